// The steps of nb-differentiate.
#ifndef NB_TRANSFORMS_DIFFERENTIATE_H
#define NB_TRANSFORMS_DIFFERENTIATE_H

#include "dialect/NB.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::nb {

/// Whether values of the type can be differentiated, and differentiated with respect to: floats,
/// vectors, matrices, tables of these, structure-factor grids, images.
bool isDifferentiable(Type type);

/// A value that exists as a whole only after a sum: nothing but an nb.scatter, an addition of such
/// or a sum makes one inside a body.
bool isCollection(Type type);

/// Which values of a function depend, smoothly, on some of its arguments.
class Activity {
public:
  Activity(func::FuncOp func, ArrayRef<Value> parameters);

  bool isActive(Value value) const { return active.contains(value); }
  bool anyActive(ValueRange values) const;
  /// Says of a copy what is known of the original.
  void copy(Value original, Value clone);

private:
  void visit(Block &block);
  void visit(Operation *op);

  DenseSet<Value> active;
};

/// Replaces active ops that have no derivative rules of their own by what they are made of.
/// Emits an error at an op that has neither rule nor expansion.
LogicalResult expandActiveOps(func::FuncOp func, ArrayRef<Value> parameters);

/// The tangent of a leaf's result from those of its operands; null where it is zero.
Value tangentOf(OpBuilder &builder, DifferentiableOp op, function_ref<Value(Value)> tangent);

/// "no derivative rule for ..." at the op.
LogicalResult reportMissingRule(Operation *op);

/// Puts ops that compute tangents beside the ops of `func`. `seeds[k]` gives the k-th tangent of
/// each parameter, a null value standing for zero. On success `tangents[k]` holds one value, or
/// null for zero, per operand of the function's return.
LogicalResult addTangents(func::FuncOp func, Activity &activity,
                          ArrayRef<DenseMap<Value, Value>> seeds,
                          SmallVectorImpl<SmallVector<Value>> &tangents);

/// Appends ops to `func` that compute the adjoints of `parameters` from those of its results,
/// `cotangents` (null: zero). On success `adjoints` holds one value per parameter, null for zero.
LogicalResult addAdjoints(func::FuncOp func, Activity &activity, ArrayRef<Value> parameters,
                          ArrayRef<Value> cotangents, SmallVectorImpl<Value> &adjoints);

/// Derivatives of a number with respect to some values.
using Partials = SmallVector<std::pair<Value, Value>>;

/// Appends ops to the body of a sum that compute the derivatives of the number it yields with
/// respect to all that it captures and looks up. Lookups in loops inside of the body count as what
/// they are not: independent of `activity`.
FailureOr<Partials> addPartials(SumOp sum, Activity &activity);

/// Gives ops that derivative rules create the name of the value they belong to, with a prefix.
class NamePrefix : public OpBuilder::Listener {
public:
  explicit NamePrefix(StringRef prefix) : prefix(prefix) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override;
  bool enabled = true;

private:
  std::string prefix;
};

} // namespace mlir::nb

#endif
