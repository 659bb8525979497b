// The interface of loops over named dimensions -*- tablegen -*.
#ifndef NB_LOOP_OP
#define NB_LOOP_OP

include "mlir/IR/OpBase.td"

def LoopOp : OpInterface<"LoopOp"> {
  let cppNamespace = "::mlir::nb";
  let description = [{
    An op that runs its body for all combinations of induction variables, one per named dimension,
    each from 0 to its count: `nb.image`, `nb.sum`, `nb.first`, `nb.tabulate`. Passes ask this
    interface, so that a further loop needs no change in those that only want to know where a value
    varies, what a loop costs, or what its results are made of.
  }];
  let methods = [InterfaceMethod<"How often each dimension runs, in the order of the dimensions.",
                                 "::mlir::OperandRange", "getCounts">,
                 InterfaceMethod<"The dimensions, as an array of #nb.dim.", "::mlir::ArrayAttr",
                                 "getDimensions">,
                 InterfaceMethod<"One block, whose arguments are the induction variables.",
                                 "::mlir::Region &", "getBody">,
                 InterfaceMethod<[{
      What the body yields for each result, in their order.
    }],
                                 "::mlir::OperandRange", "getYieldedResults", (ins), "", [{
      return $_op.getBodyBlock()->getTerminator()->getOperands();
    }]>,
                 InterfaceMethod<[{
      Is a result the sum of what the body yields for it (tensors, which are images, aside)? Then
      two loops over the same domain may become one, and what makes an entry of a table or grid may
      stand in the body.
    }],
                                 "bool", "addsUp", (ins), "", "return false;">,
                 InterfaceMethod<[{
      A loop over the same domain, with an empty region, that adds up what its body will yield: the
      adjoint of this one.
    }],
                                 "::mlir::Operation *", "createSum",
                                 (ins "::mlir::OpBuilder &":$builder, "::mlir::TypeRange":$types),
                                 "", [{
      return ::mlir::nb::createSumOver($_op, builder, types);
    }]>];
  let extraSharedClassDeclaration = [{
    ::mlir::Block *getBodyBlock() { return &$_op.getBody().front(); }
    ::llvm::ArrayRef<::mlir::BlockArgument> getInductionVars() {
      return $_op.getBody().front().getArguments();
    }
    /// The dimension of the i-th induction variable.
    ::mlir::nb::Dimension getDimension(unsigned i) {
      return ::llvm::cast<::mlir::nb::DimensionAttr>($_op.getDimensions()[i]).getValue();
    }
  }];
  let extraClassDeclaration = [{
    /// Do both run their bodies for the same combinations of induction variables?
    bool hasSameDomain(LoopOp other);
    /// A loop of the same kind over the same domain in place of this one, with results of these
    /// types. It takes the body, and this one is left to be replaced and erased.
    LoopOp takeWithResults(::mlir::OpBuilder &builder, ::mlir::TypeRange types);
  }];
}

#endif
