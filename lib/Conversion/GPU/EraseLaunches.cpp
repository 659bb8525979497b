#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-erase-launches"

namespace mlir::nb {
#define GEN_PASS_DEF_ERASELAUNCHES
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
struct EraseLaunchesPass : nb::impl::EraseLaunchesBase<EraseLaunchesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> launching;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.walk([](gpu::LaunchOp) { return WalkResult::interrupt(); }).wasInterrupted())
        launching.push_back(function);
    if (launching.empty())
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "", "no function launches a kernel");
    for (func::FuncOp function : launching) {
      auto uses = SymbolTable::getSymbolUses(function, getOperation());
      if (uses && !uses->empty()) {
        InFlightDiagnostic error = (*uses->begin()).getUser()->emitError()
                                   << "uses '" << function.getName()
                                   << "', which nb-erase-launches erases";
        error.attachNote(function.getLoc()) << "it launches a kernel of the GPU";
        return signalPassFailure();
      }
      nb::remarkPassed(
          function.getLoc(),
          remark::RemarkOpts::name("erased").category(DEBUG_TYPE).function(function.getName()))
          << "erased: it launches a kernel of the GPU, which the host does without";
      LDBG() << "erases " << function.getName();
      ++erased;
      function.erase();
    }
  }
};
} // namespace
