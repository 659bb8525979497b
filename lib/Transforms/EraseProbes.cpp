#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "dialect/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {
#define GEN_PASS_DEF_ERASEPROBES
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
void eraseProbes(FunctionOpInterface func) {
  SmallVector<ProbeOp> probes;
  func.walk([&](ProbeOp probe) { probes.push_back(probe); });
  for (ProbeOp probe : probes)
    probe.erase();
  if (!probes.empty())
    nb::remarkPassed(
        func.getLoc(),
        remark::RemarkOpts::name("erased").category("nb-erase-probes").function(func.getName()))
        << remark::add("erased {0} probe(s)", probes.size());
  else
    remarkNothing(func.getLoc(), "nb-erase-probes", func.getName(), "there is no probe");
}

struct EraseProbesPass : nb::impl::EraseProbesBase<EraseProbesPass> {
  void runOnOperation() override { getOperation()->walk(eraseProbes); }
};
} // namespace
