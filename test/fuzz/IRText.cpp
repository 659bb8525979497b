// nb programs as text: what parses prints to a text that parses to itself.
#include "test/fuzz/FuzzTarget.h"

#include "dialect/NB.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace {

MLIRContext &context() {
  static MLIRContext *all = [] {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, mlir::nb::NBDialect,
                    scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    made->getDiagEngine().registerHandler([](Diagnostic &) {});
    return made;
  }();
  return *all;
}

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

} // namespace

NB_FUZZ_TARGET(ir_text) {
  // MLIR's lexer looks one character past the end for a 0; files and strings have it.
  const std::string text(input.data(), input.size());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context());
  if (!module)
    return;
  const std::string first = print(*module);
  OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(first, &context());
  nanobragg::fuzz::require(bool(again), "what was printed can be read");
  nanobragg::fuzz::require(print(*again) == first, "what was printed is printed again");
}
