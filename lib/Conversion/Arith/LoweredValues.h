// Nb values as their scalar components.
#ifndef NB_CONVERSION_LOWEREDVALUES_H
#define NB_CONVERSION_LOWEREDVALUES_H

#include "dialect/NB.h"
#include "lib/Conversion/Arith/Arithmetic.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace mlir::nb {

/// A structure-factor grid: inclusive bounds as index values, and the values, l fastest.
struct GridParts {
  Value hMin, hMax, kMin, kMax, lMin, lMax;
  Value data; ///< memref<?xf64>
};

/// The components of every !nb.vec3 and !nb.mat3 value met so far, and the parts of arguments.
class LoweredValues {
public:
  /// Components of a scalar (itself), vec3 or mat3.
  ValueRange components(Value value);
  void set(Value value, Components components) {
    known[value] = std::make_unique<Components>(std::move(components));
  }
  GridParts grid(Value grid);

  /// A value of an op that was computed along with another one; null if there is none.
  Value computedBefore(Operation *op) const { return computed.lookup(op); }
  void setComputed(Operation *op, Value value) { computed[op] = value; }

  /// The components of vectors of gratings, by the nb.scale that they meet in.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> scaledGratings;

private:
  llvm::DenseMap<Operation *, Value> computed;
  /// Each in a place of its own: who holds the components of one value asks for those of others.
  llvm::DenseMap<Value, std::unique_ptr<Components>> known;
};

/// Components of the result of a geometry or diffraction op; empty when `op` is of another kind.
Components lowerGeometry(Operation *op, LoweredValues &values, Arithmetic &a);
Components lowerDiffraction(Operation *op, LoweredValues &values, Arithmetic &a);

/// The results of the nb.parts of a function's argument, which is made at the function's entry
/// where there is none yet.
ValueRange splitArgument(BlockArgument argument);

} // namespace mlir::nb

#endif
