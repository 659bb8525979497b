#include "lib/Transforms/TableSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

/// The count of the loop that an index runs over, or the divisor that it is a remainder of; else
/// null.
static Value countOf(Value index) {
  if (auto remainder = index.getDefiningOp<arith::RemUIOp>())
    return remainder.getRhs();
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<LoopOp>(argument.getOwner()->getParentOp()) : LoopOp();
  return loop ? loop.getCounts()[argument.getArgNumber()] : Value();
}

TableSizes::TableSizes(Operation *func) {
  func->walk([&](Operation *op) { visit(op); });
}

ArrayRef<Value> TableSizes::of(Value table) const {
  auto found = sizes.find(table);
  return found == sizes.end() ? ArrayRef<Value>() : ArrayRef<Value>(found->second);
}

void TableSizes::visit(Operation *op) {
  if (auto table = dyn_cast<TabulateOp>(op)) {
    for (Value result : table.getTables())
      sizes[result] = llvm::to_vector(table.getCounts());
    return;
  }
  if (auto scatter = dyn_cast<ScatterOp>(op)) {
    // The table that sums make of it.
    Value table = scatter.getResult();
    while (table.hasOneUse() && isa<YieldOp, AddOp>(*table.user_begin())) {
      OpOperand &use = *table.use_begin();
      table = isa<AddOp>(use.getOwner())
                  ? use.getOwner()->getResult(0)
                  : use.getOwner()->getParentOp()->getResult(use.getOperandNumber());
      sizes[table] = llvm::to_vector(scatter.getSizes());
    }
    return;
  }
  auto lookup = dyn_cast<LookupOp>(op);
  if (!lookup || sizes.contains(lookup.getTable()))
    return;
  SmallVector<Value> counts = llvm::map_to_vector(lookup.getIndices(), countOf);
  if (!llvm::is_contained(counts, Value()))
    sizes[lookup.getTable()] = counts;
}
