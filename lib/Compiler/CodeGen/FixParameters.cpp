#include "lib/Compiler/CodeGen/FixParameters.h"

#include "lib/Compiler/CodeGen/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;

/// Whether there is such an argument.
static bool fix(ModuleOp program, StringRef name, int64_t value) {
  bool found = false;
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    OpBuilder b(function.getBody());
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      if (argumentName(function, i) != name)
        continue;
      Location loc = argument.getLoc();
      Value constant;
      if (argument.getType().isIndex())
        constant = arith::ConstantIndexOp::create(b, loc, value);
      else if (argument.getType().isF64())
        constant = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(double(value)));
      else
        continue;
      argument.replaceAllUsesWith(constant);
      found = true;
    }
  }
  return found;
}

llvm::Error nb::fixParameters(ModuleOp program, ArrayRef<nanobragg::FixedCount> fixed) {
  for (const nanobragg::FixedCount &count : fixed)
    if (!fix(program, count.name, count.value))
      return createStringError("the kernel has no count '" + count.name + "'");
  return llvm::Error::success();
}
