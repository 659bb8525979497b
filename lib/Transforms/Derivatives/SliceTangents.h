// Values inside an image computed again elsewhere, with their derivatives.
#ifndef NB_TRANSFORMS_SLICETANGENTS_H
#define NB_TRANSFORMS_SLICETANGENTS_H

#include "dialect/NB.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <string>

namespace mlir::nb {

/// The ops that some values of a loop's body follow from.
class Slice {
public:
  /// The ops inside `loop` that `results` depend on, as far as `inputs`. Check `why` before use.
  Slice(ValueRange results, ValueRange inputs, Operation *loop);

  /// Says which op stands in the way; empty: none.
  std::string why;
  Operation *where = nullptr;

  /// The tangents along one variable of the inputs that change with it.
  using Seeds = DenseMap<Value, Value>;
  struct Values {
    SmallVector<Value> results;
    SmallVector<SmallVector<Value>> tangents; ///< for each variable; null is zero
  };
  /// The results where the inputs have the values that `mapping` says, and their tangents along
  /// each variable, computed at the builder's insertion point. The seeds are those of the mapped
  /// inputs. An error is reported at an op without a derivative rule.
  FailureOr<Values> evaluate(OpBuilder &builder, IRMapping mapping, ArrayRef<Seeds> seeds) const;

private:
  SmallVector<Value> results;
  SmallVector<Operation *> ops; ///< in the order of the program
};

} // namespace mlir::nb

#endif
