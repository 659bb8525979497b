// Transforms of crystal shapes.
#ifndef NB_CONVERSION_SHAPESTOARITH_H
#define NB_CONVERSION_SHAPESTOARITH_H

#include "lib/Conversion/Arith/LoweredValues.h"

namespace mlir::nb {

Value lowerSincg(SincgOp op, Arithmetic &a);
/// The gratings of the same delta and ncells, derivatives of any order, share one division and six
/// sines and cosines: they emit the same ops, of which CSE keeps one.
Value lowerGrating(GratingOp op, LoweredValues &values, Arithmetic &a);
/// Notes what lowerScaledGratings is for, before anything is lowered.
void findScaledGratings(Operation *root, LoweredValues &values);
/// A vector of gratings times a factor, which goes to their common divisor; empty where the vector
/// is another one.
Components lowerScaledGratings(ScaleOp op, LoweredValues &values, Arithmetic &a);
Value lowerBall(BallOp op, Arithmetic &a);

} // namespace mlir::nb

#endif
