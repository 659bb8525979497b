// Derivatives of stages whose pixels need their neighbours, from what NeighbourResponse says: they
// are ops on whole images, while all others that have rules are part of a pixel.
#ifndef NB_TRANSFORMS_DIFFERENTIATERESPONSE_H
#define NB_TRANSFORMS_DIFFERENTIATERESPONSE_H

#include "dialect/NB.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::nb {
class Activity;

/// The nb.image that this image is, or that it was made from; null when the function has none.
ImageOp imageLike(Value image);

/// Brings stages that depend on the parameters into a form whose derivative is of the same form:
/// the stage with all pixels, in f64, and the region, the mask and the stages behind it in an
/// nb.image that reads it.
LogicalResult separateStages(func::FuncOp func, ArrayRef<Value> parameters);

/// Emits an error at a pixel that is read elsewhere than where it is used.
LogicalResult checkReads(func::FuncOp func, const Activity &activity);

/// `tangentOf` answers null for what does not change.
FailureOr<Value> stageTangent(OpBuilder &builder, NeighbourResponse stage,
                              function_ref<Value(Value)> tangentOf);

/// Calls `add` with each active operand and its adjoint.
LogicalResult stageAdjoints(OpBuilder &builder, NeighbourResponse stage, Value cotangent,
                            const Activity &activity, function_ref<void(Value, Value)> add);

} // namespace mlir::nb

#endif
