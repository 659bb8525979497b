#include "dialect/NB.h"
#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-split-response"

namespace mlir::nb {
#define GEN_PASS_DEF_SPLITRESPONSE
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Whether all that becomes of the image is a stage or returned, so that it can be left to others.
bool isResponseOnly(Value image) {
  return llvm::all_of(image.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) ||
           (isa<PointwiseResponse, NeighbourResponse>(user) && isResponseOnly(user->getResult(0)));
  });
}

/// Gives the function's callers `photons` where `image` is returned, and erases the stages that
/// made `image` of them.
void returnInstead(Value image, Value photons) {
  for (OpOperand &use : llvm::make_early_inc_range(image.getUses())) {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp>(user)) {
      use.set(photons);
      continue;
    }
    returnInstead(user->getResult(0), photons);
    user->erase();
  }
}

/// Returns whether that could be done.
bool splitAt(NeighbourResponse spread) {
  auto func = spread->getParentOfType<func::FuncOp>();
  const auto remark =
      remark::RemarkOpts::name("split").category(DEBUG_TYPE).function(func ? func.getName() : "");
  if (!func || !isResponseOnly(spread->getResult(0))) {
    nb::remarkMissed(spread.getLoc(), remark)
        << remark::add("'nb.point_spread' stays: ops other than stages use its image");
    LDBG() << "stays: " << spread;
    return false;
  }
  nb::remarkPassed(spread.getLoc(), remark)
      << remark::add("the function returns the photons; what calls it spreads them");
  returnInstead(spread->getResult(0), spread.getImage());
  spread.erase();
  auto types = func.getBody().front().getTerminator()->getOperandTypes();
  func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(), types));
  LDBG() << func.getName() << " returns photons";
  return true;
}

struct SplitResponsePass : nb::impl::SplitResponseBase<SplitResponsePass> {
  void runOnOperation() override {
    // From the last to the first: one may take what another one makes.
    SmallVector<NeighbourResponse> spreads;
    getOperation()->walk([&](NeighbourResponse spread) { spreads.push_back(spread); });
    for (NeighbourResponse spread : llvm::reverse(spreads))
      split += splitAt(spread);
  }
};
} // namespace
