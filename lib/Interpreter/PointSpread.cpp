#include "lib/Response/PointSpread.h"
#include "lib/Interpreter/Images.h"
#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/Run.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
using nanobragg::PointSpreadFunction;

namespace {
struct PointSpreadPlan {
  mutable PointSpreadOp op;
  Slot image, fwhm, pixelSize, radius, mask, result;
  SmallVector<Slot> roi;
  Type element;
  unsigned ordinal = 0;

  void run(Frame &frame) const;

private:
  std::optional<PointSpreadFunction> function(Frame &frame) const;
  bool isInImage(Frame &frame, const Tensor &image, const Pixel &pixel) const;
};
} // namespace

static int64_t indexOf(const Tensor &image, const Pixel &p) {
  return (p.panel * image.shape[1] + p.slow) * image.shape[2] + p.fast;
}

/// The sum as the op's description has it, one share after the other.
static double lightIn(const Pixel &p, const Tensor &image, const PointSpreadFunction &spread) {
  const int64_t radius = spread.radius();
  const int64_t slowEnd = std::min(image.shape[1], p.slow + radius + 1),
                fastEnd = std::min(image.shape[2], p.fast + radius + 1);
  double sum = 0;
  for (int64_t s = std::max<int64_t>(0, p.slow - radius); s < slowEnd; ++s)
    for (int64_t f = std::max<int64_t>(0, p.fast - radius); f < fastEnd; ++f)
      sum += spread.share(f - p.fast, s - p.slow) * image.get(indexOf(image, {p.panel, s, f}));
  return sum;
}

std::optional<PointSpreadFunction> PointSpreadPlan::function(Frame &frame) const {
  const double width = *frame.reals(fwhm) / *frame.reals(pixelSize);
  try {
    const bool gauss = op.getKind() == PointSpreadKind::gauss;
    return PointSpreadFunction(gauss ? nanobragg::PointSpread::Gauss
                                     : nanobragg::PointSpread::Fiber,
                               width, *frame.integers(radius), int(op.getOrder()));
  } catch (const std::invalid_argument &error) {
    frame.fail(op, error.what());
    return std::nullopt;
  }
}

bool PointSpreadPlan::isInImage(Frame &frame, const Tensor &image, const Pixel &p) const {
  const auto bound = [&](unsigned i) { return *frame.integers(roi[i]); };
  if (!roi.empty() &&
      (p.fast < bound(0) || p.fast > bound(1) || p.slow < bound(2) || p.slow > bound(3)))
    return false;
  return !op.getMask() || frame.object<const Tensor>(mask)->get(indexOf(image, p)) != 0;
}

void PointSpreadPlan::run(Frame &frame) const {
  const Tensor &before = *frame.object<const Tensor>(image);
  if (before.shape.empty())
    return frame.fail(op, "'nb.point_spread' op changes an image of unknown shape");
  const std::optional<PointSpreadFunction> spread = function(frame);
  if (!spread)
    return;
  if (const std::optional<Pixel> &traced = frame.run->options.trace) {
    Tensor &after = makeImage(frame, ordinal, result, element, {1, 1, 1});
    if (before.size() == 1 && (traced->panel || traced->slow || traced->fast))
      return frame.fail(op,
                        "'nb.point_spread' op needs the pixels around the traced one, which are "
                        "known only where it follows its nb.image at once");
    if (isInImage(frame, before, *traced))
      after.set(0, lightIn(*traced, before, *spread));
    return;
  }
  Tensor &after = makeImage(frame, ordinal, result, element, before.shape);
  const InterpreterOptions &options = frame.run->options;
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, size_t(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(int64_t(0), before.shape[0] * before.shape[1], [&](int64_t row) {
      Pixel p = {row / before.shape[1], row % before.shape[1], 0};
      for (; p.fast != before.shape[2]; ++p.fast)
        if (isInImage(frame, before, p))
          after.set(indexOf(before, p), lightIn(p, before, *spread));
    });
  });
}

static LogicalResult planPointSpread(PointSpreadOp op, Planner &planner) {
  auto plan = std::make_shared<PointSpreadPlan>();
  plan->op = op;
  auto slot = planner.define(op.getResult(), 0);
  if (failed(slot))
    return failure();
  plan->result = *slot;
  plan->image = planner.slot(op.getImage());
  plan->fwhm = planner.slot(op.getFwhm());
  plan->pixelSize = planner.slot(op.getPixelSize());
  plan->radius = planner.slot(op.getRadius());
  for (Value bound : op.getRoi())
    plan->roi.push_back(planner.slot(bound));
  if (op.getMask())
    plan->mask = planner.slot(op.getMask());
  plan->element = op.getType().getElementType();
  plan->ordinal = planner.numTensors++;
  planner.step(op, 0, [plan](Frame &frame) { plan->run(frame); });
  return success();
}

void evaluation::attachPointSpread(MLIRContext *context) {
  evaluateBy<PointSpreadOp, planPointSpread>(context);
}
