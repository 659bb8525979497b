#include "lib/Transforms/FuseResponse.h"

#include "dialect/NB.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-fuse-response"

namespace mlir::nb {
#define GEN_PASS_DEF_FUSERESPONSE
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Why the stage cannot be part of the image's body where the image stands; null when it can.
const char *whyNot(PointwiseResponse stage, ImageOp image) {
  if (!image)
    return "its image is not computed by this function";
  if (image.getLanes())
    return "its image has lanes already (nb-vectorize comes later)";
  DominanceInfo dominance;
  for (Value operand : stage->getOperands())
    if (operand != stage.getImage() && !dominance.properlyDominates(operand, image))
      return "what it needs is computed after its image";
  return nullptr;
}

/// The pixel in the precision of the stage's result.
Value rounded(OpBuilder &b, Location loc, Value pixel, Type type) {
  if (pixel.getType() == type)
    return pixel;
  if (type.isF32())
    return arith::TruncFOp::create(b, loc, type, pixel);
  return arith::ExtFOp::create(b, loc, type, pixel);
}

/// The image with the stage's result in place of its own, or beside it where others use that.
void fuse(PointwiseResponse stage, ImageOp image) {
  auto before = cast<OpResult>(stage.getImage());
  auto after = cast<RankedTensorType>(stage->getResult(0).getType());
  YieldOp yield = image.getYield();
  OpBuilder body(yield);
  Value pixel = yield->getOperand(before.getResultNumber());
  pixel = stage.pixelValue(body, pixel, image.getBodyBlock()->getArguments());
  pixel = rounded(body, stage->getLoc(), pixel, after.getElementType());

  SmallVector<Type> types = llvm::to_vector(image->getResultTypes());
  unsigned place = before.getResultNumber();
  if (before.hasOneUse()) {
    yield->setOperand(place, pixel);
    types[place] = after;
  } else {
    place = types.size();
    yield->insertOperands(place, pixel);
    types.push_back(after);
  }
  OpBuilder b(image);
  OperationState state(stage->getLoc(), image->getName(), image->getOperands(), types,
                       image->getAttrs());
  state.addRegion()->takeBody(image.getBody());
  Operation *fused = b.create(state);
  stage->getResult(0).replaceAllUsesWith(fused->getResult(place));
  stage->erase();
  for (OpResult result : image->getResults())
    result.replaceAllUsesWith(fused->getResult(result.getResultNumber()));
  image.erase();
}

struct FuseResponsePass : nb::impl::FuseResponseBase<FuseResponsePass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) { fused += fuseResponse(func); });
  }
};
} // namespace

unsigned nb::fuseResponse(FunctionOpInterface func) {
  unsigned fused = 0;
  SmallVector<PointwiseResponse> stages;
  func.walk([&](PointwiseResponse stage) { stages.push_back(stage); });
  if (stages.empty())
    remarkNothing(func.getLoc(), DEBUG_TYPE, func.getName(),
                  "no stage that looks at one pixel follows the image");
  for (PointwiseResponse stage : stages) {
    StringRef name = stage->getName().getStringRef();
    auto image = stage.getImage().getDefiningOp<ImageOp>();
    if (const char *why = whyNot(stage, image)) {
      nb::remarkMissed(stage->getLoc(), remarkOf(DEBUG_TYPE, "left", func))
          << remark::add("'{0}' stays a stage of its own: {1}", name, why);
      continue;
    }
    Location loc = stage->getLoc();
    LDBG() << "into the image: " << name;
    fuse(stage, image);
    ++fused;
    nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "fused", func))
        << remark::add("'{0}' is now part of the image's body", name);
  }
  return fused;
}
