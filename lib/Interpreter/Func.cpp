#include "lib/Interpreter/Map.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// The callee's steps in place of the call.
static LogicalResult planCall(func::CallOp op, Planner &planner) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return op.emitOpError() << "calls '" << op.getCallee()
                            << "', which is not a function of one block in this module";
  if (llvm::is_contained(planner.calls, callee.getOperation()))
    return op.emitOpError("calls a function from inside itself, which the interpreter cannot run");
  for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), op.getOperands())) {
    PlannedValue known = planner[operand];
    planner.alias(argument, known);
  }
  auto body = std::make_shared<Body>();
  planner.calls.push_back(callee);
  LogicalResult planned = planner.plan(callee.getBody().front(), *body);
  planner.calls.pop_back();
  if (failed(planned))
    return failure();
  Operation *terminator = callee.getBody().front().getTerminator();
  Dimensions dims = planner.dimsOf(op.getOperands()) | planner.dimsOfRegions(callee);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), terminator->getOperands())) {
    PlannedValue known = planner[value];
    planner.alias(result, known);
  }
  planner.step(op, dims, [body](Frame &frame) { body->run(frame, everything); });
  return success();
}

void evaluation::attachFunc(MLIRContext *context) { evaluateBy<func::CallOp, planCall>(context); }
