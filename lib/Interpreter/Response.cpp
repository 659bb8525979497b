#include "lib/Interpreter/Images.h"
#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/Run.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// Where the pixel of an image stands in another one of the detector's size. A trace computes one
/// pixel only.
static int64_t whereIn(const Tensor &other, int64_t index, Frame &frame) {
  const std::optional<Pixel> &traced = frame.run->options.trace;
  if (!traced)
    return index;
  return (traced->panel * other.shape[1] + traced->slow) * other.shape[2] + traced->fast;
}

/// A new image of which each pixel is `formula(frame, pixel, index)`.
template <typename Formula>
static LogicalResult planPointwise(PointwiseResponse stage, Planner &planner, Formula formula) {
  auto slot = planner.define(stage->getResult(0), 0);
  if (failed(slot))
    return failure();
  Type element = cast<RankedTensorType>(stage->getResult(0).getType()).getElementType();
  Slot before = planner.slot(stage.getImage());
  unsigned ordinal = planner.numTensors++;
  planner.step(stage, 0, [=, out = *slot](Frame &frame) {
    const Tensor &image = *frame.object<const Tensor>(before);
    if (image.shape.empty())
      return frame.fail(stage, "'" + stage->getName().getStringRef().str() +
                                   "' op changes an image of unknown shape");
    Tensor &result = makeImage(frame, ordinal, out, element, image.shape);
    for (int64_t i = 0, n = image.size(); i < n; ++i)
      result.set(i, formula(frame, image.get(i), i));
  });
  return success();
}

static LogicalResult planCountingLoss(CountingLossOp op, Planner &planner) {
  Slot deadTime = planner.slot(op.getDeadTime()), exposure = planner.slot(op.getExposure());
  return planPointwise(op, planner, [=](Frame &frame, double photons, int64_t) {
    const double perSecond = photons / *frame.reals(exposure);
    return photons * std::exp(-perSecond * *frame.reals(deadTime));
  });
}

static LogicalResult planGain(GainOp op, Planner &planner) {
  Slot gain = planner.slot(op.getGain());
  return planPointwise(op, planner, [gain](Frame &frame, double pixel, int64_t) {
    return *frame.reals(gain) * pixel;
  });
}

static LogicalResult planGainMap(GainMapOp op, Planner &planner) {
  Slot map = planner.slot(op.getMap());
  return planPointwise(op, planner, [map](Frame &frame, double pixel, int64_t index) {
    const Tensor &gains = *frame.object<const Tensor>(map);
    return gains.get(whereIn(gains, index, frame)) * pixel;
  });
}

void evaluation::attachResponse(MLIRContext *context) {
  evaluateBy<CountingLossOp, planCountingLoss>(context);
  evaluateBy<GainOp, planGain>(context);
  evaluateBy<GainMapOp, planGainMap>(context);
}
