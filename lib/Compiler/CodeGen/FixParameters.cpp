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

llvm::Error nb::fixParameters(ModuleOp program, StringRef fixed) {
  SmallVector<StringRef> words;
  fixed.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [name, text] = word.split('=');
    int64_t value = 0;
    if (text.getAsInteger(10, value) || value < 1)
      return createStringError("'" + word.str() + "' does not give a count a value");
    if (!fix(program, name, value))
      return createStringError("the kernel has no count '" + name.str() + "'");
  }
  return llvm::Error::success();
}
