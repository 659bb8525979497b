// The interface that nb-differentiate asks -*- tablegen -*.
#ifndef NB_DERIVATIVES
#define NB_DERIVATIVES

include "mlir/IR/OpBase.td"

def DifferentiableOp : OpInterface<"DifferentiableOp"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op of one result with a derivative with respect to each of its operands. A null value is
    zero. New ops go to the builder's insertion point, where operands and result are known, at the
    op's location. Operands that carry no derivative (index, i1) are never asked about.
  }];
  let methods = [
    InterfaceMethod<[{
      What the tangent of one operand adds to the tangent of the result.
    }], "::mlir::Value", "tangent",
    (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand, "::mlir::Value":$tangent)>,
    InterfaceMethod<[{
      What the adjoint of the result adds to the adjoint of one operand.
    }], "::mlir::Value", "adjoint",
    (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand, "::mlir::Value":$adjoint)>
  ];
}

/// The derivative of an op with respect to one of its operands: what a tangent `t` of that operand
/// adds to the tangent of the result, and what an adjoint `g` of the result adds to that of the
/// operand. Both are linear and each other's transpose. They are expressions in the words of
/// RuleBuilder.h, with the operands under their names, the op as `op` and its result as `result`;
/// nullptr is zero.
class NB_Rule<string operand_, string tangent_, string adjoint_> {
  string operand = operand_;
  string tangent = tangent_;
  string adjoint = adjoint_;
}
def ExpandableOp : OpInterface<"ExpandableOp"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op of one result that is lowered by writing its formula with simpler ops. It is differentiated
    so, too, unless it has rules (DifferentiableOp): those keep it one op beside its derivatives.
  }];
  let methods = [
    InterfaceMethod<[{
      The same value, computed by ops that are differentiable, expandable or inactive.
    }], "::mlir::Value", "expand", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def InactiveOp : OpInterface<"InactiveOp"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op whose float results do not change with its operands, or only by jumps: its derivative is
    zero by definition. Ops with other than float results need not say so.
  }];
}

#endif
