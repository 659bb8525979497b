// Ops that the interpreter can run ---*- tablegen -*.
#ifndef NB_INTERPRETER_EVALUABLE_OP
#define NB_INTERPRETER_EVALUABLE_OP

include "mlir/IR/OpBase.td"

def EvaluableOp : OpInterface<"EvaluableOp"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op that the interpreter can run. Attached to ops from outside (external models), so that
    the dialects know nothing of the interpreter.
  }];
  let methods = [
    InterfaceMethod<[{
      Adds the steps that evaluate this op to the plan, where the operands are known already, and
      defines the op's results. Fails with a diagnostic.
    }], "::llvm::LogicalResult", "plan", (ins "::mlir::nb::Planner &":$planner)>
  ];
}

#endif
