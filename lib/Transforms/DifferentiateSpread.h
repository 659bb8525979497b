// Derivatives of nb.point_spread, as nb-differentiate takes them: it is an op on whole images,
// while all others that have rules are part of a pixel.
#ifndef NB_TRANSFORMS_DIFFERENTIATESPREAD_H
#define NB_TRANSFORMS_DIFFERENTIATESPREAD_H

#include "dialect/NB.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::nb {
class Activity;

/// The nb.image that this image is, or that it was made from; null when the function has none.
ImageOp imageLike(Value image);

/// Brings ops that depend on the parameters into a form whose derivative is of the same form: the
/// spread of all light, in f64, and the region, the mask and the stages behind it in an nb.image
/// that reads it.
LogicalResult separateSpreads(func::FuncOp func, ArrayRef<Value> parameters);

/// Emits an error at what has no derivative: third ones by the width, pixels read elsewhere.
LogicalResult checkSpreads(func::FuncOp func, const Activity &activity);

/// Along changes of what the op takes, of which null ones are zero and one is not.
Value spreadTangent(OpBuilder &builder, PointSpreadOp op, Value image, Value fwhm, Value pixelSize);

/// Of the op's image, from that of its result.
Value spreadTranspose(OpBuilder &builder, PointSpreadOp op, Value cotangent);

struct SpreadWidthAdjoint {
  Value fwhm, pixelSize;
};
SpreadWidthAdjoint spreadWidthAdjoint(OpBuilder &builder, PointSpreadOp op, Value cotangent);

} // namespace mlir::nb

#endif
