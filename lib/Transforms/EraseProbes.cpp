#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-erase-probes"

namespace mlir::nb {
#define GEN_PASS_DEF_ERASEPROBES
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Returns how many there were.
size_t eraseProbes(FunctionOpInterface func) {
  SmallVector<ProbeOp> probes;
  func.walk([&](ProbeOp probe) { probes.push_back(probe); });
  for (ProbeOp probe : probes)
    probe.erase();
  LDBG() << func.getName() << ": " << probes.size() << " probe(s) are erased";
  if (!probes.empty())
    nb::remarkPassed(
        func.getLoc(),
        remark::RemarkOpts::name("erased").category(DEBUG_TYPE).function(func.getName()))
        << remark::add("erased {0} probe(s)", probes.size());
  else
    remarkNothing(func.getLoc(), DEBUG_TYPE, func.getName(), "there is no probe");
  return probes.size();
}

struct EraseProbesPass : nb::impl::EraseProbesBase<EraseProbesPass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) { erased += eraseProbes(func); });
  }
};
} // namespace
