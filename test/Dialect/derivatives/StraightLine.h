// Derivatives of functions without loops, straight from the rules: what nb-differentiate does to
// the ops of one body.
#ifndef NB_TEST_DERIVATIVES_STRAIGHTLINE_H
#define NB_TEST_DERIVATIVES_STRAIGHTLINE_H

#include "dialect/NB.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::nb::test {

/// A copy of `function`, after it, with all composite ops expanded.
func::FuncOp expanded(func::FuncOp function);

/// (x..., t...) -> tangent of the result, for tangents of the first `active` arguments. Null, with
/// the name of the op in `missing`, when an op has no rule.
func::FuncOp tangentOf(func::FuncOp function, unsigned active, std::string &missing);

/// (x..., g) -> adjoints of all arguments, for the adjoint of the result.
func::FuncOp adjointOf(func::FuncOp function, std::string &missing);

} // namespace mlir::nb::test

#endif
