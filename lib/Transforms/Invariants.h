// The questions that passes ask when they move values out of loops.
#ifndef NB_TRANSFORMS_INVARIANTS_H
#define NB_TRANSFORMS_INVARIANTS_H

#include "dialect/NB.h"

#include "dialect/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {

/// A remark of the pass about `func`.
remark::RemarkOpts remarkOf(StringRef pass, StringRef name, FunctionOpInterface func);

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

/// Moves each pure op, or of those only which may move, out of all loops that it does not depend
/// on.
void moveInvariants(FunctionOpInterface func, MovedOps &moved,
                    function_ref<bool(Operation *)> mayMove = {});

} // namespace mlir::nb

#endif
