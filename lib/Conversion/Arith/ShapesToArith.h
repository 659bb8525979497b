// Transforms of crystal shapes.
#ifndef NB_CONVERSION_SHAPESTOARITH_H
#define NB_CONVERSION_SHAPESTOARITH_H

#include "lib/Conversion/Arith/Expansion.h"

namespace mlir::nb {

Value expandSincg(SincgOp op, Arithmetic &a);
/// The gratings of the same delta and ncells, derivatives of any order, share one division and six
/// sines and cosines: they emit the same ops, of which CSE keeps one.
Value expandGrating(GratingOp op, Expansion &values, Arithmetic &a);
/// Notes what expandScaledGratings is for, ahead of the expansion of anything.
void findScaledGratings(Operation *root, Expansion &values);
/// A vector of gratings times a factor, which goes to their common divisor; empty where the vector is
/// another one.
Components expandScaledGratings(ScaleOp op, Expansion &values, Arithmetic &a);
Value expandBall(BallOp op, Arithmetic &a);

} // namespace mlir::nb

#endif
