// Where the light of averages can fall: what the runtime finds reflections by.
#ifndef NB_TRANSFORMS_AVERAGEREACH_H
#define NB_TRANSFORMS_AVERAGEREACH_H

#include "lib/Transforms/Averages/SpotAverage.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {

/// With --cull=exact, reflections are left out that are below exp(-exactBound) of their peak.
inline constexpr double exactBound = 50;

/// A number that is averaged: a draw, or a component of one.
struct Variable {
  DeviateOp deviate;
  int component; ///< which one of a vector; -1: it is a number
};

/// An average inside an image, ahead of what is made of it.
struct AveragedSum {
  SumOp sum;
  ArrayRef<DeviateOp> deviates;
  ArrayRef<Variable> normals, uniforms;
  LatticeFactorOp factor;
  MillerIndexOp index;
};

/// Writes an nb.reach of the average ahead of its image. False where the directions of pixels are
/// not known there, saying at `where` why; then nothing is written but ops without use.
bool writeAverageReach(const AveragedSum &average, double bound, Operation *&where,
                       std::string &why);

/// The numbers of reflections in the box of an nb.reach: how many there are, as an index.
Value countReflections(ReachOp reach, OpBuilder &b);
/// The reflection of a number, as a vector of this type.
Value reflectionOf(ReachOp reach, Value number, Vec3Type type, OpBuilder &b);

} // namespace mlir::nb

#endif
