// The steps of nb-hoist-invariants.
#ifndef NB_TRANSFORMS_INVARIANTS_H
#define NB_TRANSFORMS_INVARIANTS_H

#include "dialect/NB.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {

/// The remarks of the pass about `func`.
remark::RemarkOpts hoistRemark(StringRef name, FunctionOpInterface func);

/// Everything from outside that the op's value depends on: its operands and what its regions use.
SmallVector<Value> inputsOf(Operation *op);

/// Is `value` computed, or an induction variable, inside `op`?
bool isDefinedIn(Value value, Operation *op);

/// The number of floats in a scalar, vec3 or mat3.
unsigned scalarsIn(Type type);

/// Roughly how many floating-point operations the op takes.
unsigned costOf(Operation *op);

/// "phi x mosaic"
std::string dimensionNames(ArrayRef<Dimension> dimensions);

/// How many ops left a loop, by where they went.
struct MovedOps {
  unsigned toFunction = 0;
  unsigned toPixel = 0;
  unsigned toOuterSum = 0;
};

/// Moves each pure op, or of those only which may move, out of all loops that it does not depend on.
void moveInvariants(FunctionOpInterface func, MovedOps &moved,
                    function_ref<bool(Operation *)> mayMove = {});

/// Computes what depends on sums' dimensions but not on the pixel in tables ahead of the image.
void tabulateInvariants(ImageOp image, FunctionOpInterface func);

/// Splits sums in two or more nested ones where that lets costly ops leave the inner dimensions.
/// True if any was split; the ops are still in the innermost one.
bool splitSums(FunctionOpInterface func);

/// Takes conditions and factors that do not change inside a sum out of it.
void factorSums(FunctionOpInterface func);

} // namespace mlir::nb

#endif
