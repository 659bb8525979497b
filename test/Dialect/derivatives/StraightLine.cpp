#include "test/Dialect/derivatives/StraightLine.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

namespace mlir::nb::test {

/// With its place in the name, as a module holds each name once.
static func::FuncOp copyOf(func::FuncOp function, const char *suffix) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfter(function);
  auto copy = cast<func::FuncOp>(builder.clone(*function));
  copy.setName((function.getName() + suffix).str());
  return copy;
}

static void expandAll(func::FuncOp function) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
      auto expandable = dyn_cast<ExpandableOp>(op);
      if (!expandable)
        continue;
      OpBuilder builder(&op);
      op.getResult(0).replaceAllUsesWith(expandable.expand(builder));
      op.erase();
      changed = true;
    }
  }
}

func::FuncOp expanded(func::FuncOp function) {
  func::FuncOp copy = copyOf(function, "_expanded");
  expandAll(copy);
  return copy;
}

static bool isFloat(Type type) {
  return isScalarOrLanes(type) || isa<Vec3Type, Mat3Type, HklGridType>(type);
}

static void finish(func::FuncOp function, ValueRange results) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands(results);
  function.setType(FunctionType::get(
      function.getContext(), function.getBody().front().getArgumentTypes(), results.getTypes()));
}

func::FuncOp tangentOf(func::FuncOp function, unsigned active, std::string &missing) {
  func::FuncOp copy = copyOf(function, "_tangent");
  expandAll(copy);
  Block &body = copy.getBody().front();
  DenseMap<Value, Value> tangents;
  for (unsigned i = 0; i < active; ++i) {
    BlockArgument argument = body.getArgument(i);
    tangents[argument] = body.addArgument(argument.getType(), argument.getLoc());
  }
  OpBuilder builder(copy.getContext());
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (isa<InactiveOp>(op) || op.getNumResults() != 1 || !isFloat(op.getResult(0).getType()))
      continue;
    builder.setInsertionPointAfter(&op);
    Value total;
    for (OpOperand &operand : op.getOpOperands()) {
      Value tangent = tangents.lookup(operand.get());
      if (!tangent)
        continue;
      auto rules = dyn_cast<DifferentiableOp>(op);
      if (!rules) {
        missing = op.getName().getStringRef();
        return {};
      }
      total = addValues(builder, op.getLoc(), total,
                        rules.tangent(builder, operand.getOperandNumber(), tangent));
    }
    if (total)
      tangents[op.getResult(0)] = total;
  }
  Value result = body.getTerminator()->getOperand(0), tangent = tangents.lookup(result);
  builder.setInsertionPoint(body.getTerminator());
  finish(copy, tangent ? tangent : zeroOf(builder, copy.getLoc(), result.getType()));
  return copy;
}

func::FuncOp adjointOf(func::FuncOp function, std::string &missing) {
  func::FuncOp copy = copyOf(function, "_adjoint");
  expandAll(copy);
  Block &body = copy.getBody().front();
  SmallVector<Value> arguments(body.getArguments());
  Value result = body.getTerminator()->getOperand(0);
  DenseMap<Value, Value> adjoints;
  adjoints[result] = body.addArgument(result.getType(), copy.getLoc());
  OpBuilder builder(body.getTerminator());
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    Value adjoint = op->getNumResults() == 1 ? adjoints.lookup(op->getResult(0)) : Value();
    if (!adjoint || isa<InactiveOp>(op))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isFloat(operand.get().getType()))
        continue;
      auto rules = dyn_cast<DifferentiableOp>(op);
      if (!rules) {
        missing = op->getName().getStringRef();
        return {};
      }
      Value &sum = adjoints[operand.get()];
      sum = addValues(builder, op->getLoc(), sum,
                      rules.adjoint(builder, operand.getOperandNumber(), adjoint));
    }
  }
  SmallVector<Value> results;
  for (Value argument : arguments) {
    Value adjoint = adjoints.lookup(argument);
    results.push_back(adjoint ? adjoint : zeroOf(builder, copy.getLoc(), argument.getType()));
  }
  finish(copy, results);
  return copy;
}

} // namespace mlir::nb::test
