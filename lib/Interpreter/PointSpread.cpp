#include "lib/Interpreter/Images.h"
#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/Run.h"
#include "lib/Parallel/ThreadTeam.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
using std::numbers::pi;

namespace {
/// A share and its derivatives with respect to the width.
using RealOrders = std::array<double, 3>;

/// The light of a Gaussian of width w between 0 and x, and its derivatives with respect to w.
RealOrders gaussUpTo(double x, double w) {
  const double u = 2 * std::sqrt(std::numbers::ln2) * x / w;
  const double slope = std::exp(-u * u) / std::sqrt(pi);
  return {std::erf(u) / 2, -slope * u / w, 2 * slope * u * (1 - u * u) / (w * w)};
}

/// The light of a fiber of width w in the rectangle from (0, 0) to (x, y), and its derivatives.
RealOrders fiberUpTo(double x, double y, double w) {
  constexpr double scale = 0.652383013252053;
  const double g = scale * w, a = g * g + x * x, b = g * g + y * y, s = std::sqrt(a + y * y);
  const double sum = 1 / a + 1 / b, squares = 1 / (a * a) + 1 / (b * b);
  return {std::atan2(x * y, g * s) / (2 * pi), -scale * x * y * sum / (2 * pi * s),
          scale * scale * x * y * g * (sum / (s * s) + 2 * squares) / (2 * pi * s)};
}

RealOrders difference(const RealOrders &a, const RealOrders &b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

RealOrders product(const RealOrders &a, const RealOrders &b) {
  return {a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]};
}

/// The light in the rectangle between two corners.
RealOrders lightBetween(PointSpreadKind kind, double x0, double x1, double y0, double y1,
                        double w) {
  switch (kind) {
  case PointSpreadKind::gauss:
    return product(difference(gaussUpTo(x1, w), gaussUpTo(x0, w)),
                   difference(gaussUpTo(y1, w), gaussUpTo(y0, w)));
  case PointSpreadKind::fiber:
    return difference(difference(fiberUpTo(x1, y1, w), fiberUpTo(x0, y1, w)),
                      difference(fiberUpTo(x1, y0, w), fiberUpTo(x0, y0, w)));
  }
  llvm_unreachable("all kinds of point spread are listed");
}

/// The shares as the op's description has them, or their derivatives with respect to the width.
class Shares {
public:
  /// None further than `farthest` is asked for.
  Shares(PointSpreadKind kind, double width, int64_t radius, unsigned order, int64_t farthest)
      : reach(std::min(radius, farthest)) {
    const double edge = double(radius) + 0.5;
    const RealOrders whole = lightBetween(kind, -edge, edge, -edge, edge, width);
    for (int64_t dy = 0; dy <= reach; ++dy)
      for (int64_t dx = 0; dx <= reach; ++dx) {
        const auto x = double(dx), y = double(dy);
        const RealOrders light = lightBetween(kind, x - 0.5, x + 0.5, y - 0.5, y + 0.5, width);
        RealOrders share;
        share[0] = light[0] / whole[0];
        share[1] = (light[1] - share[0] * whole[1]) / whole[0];
        share[2] = (light[2] - 2 * share[1] * whole[1] - share[0] * whole[2]) / whole[0];
        shares.push_back(share[order]);
      }
  }
  int64_t radius() const { return reach; }
  double operator()(int64_t dx, int64_t dy) const {
    return shares[std::abs(dy) * (reach + 1) + std::abs(dx)];
  }

private:
  int64_t reach;
  std::vector<double> shares;
};

struct PointSpreadPlan {
  mutable PointSpreadOp op;
  Slot image, fwhm, pixelSize, radius, mask, result;
  SmallVector<Slot> roi;
  Type element;
  unsigned ordinal = 0;

  void run(Frame &frame) const;

private:
  std::optional<Shares> shares(Frame &frame, const Tensor &image) const;
  bool isInImage(Frame &frame, const Tensor &image, const Pixel &pixel) const;
};
} // namespace

static int64_t indexOf(const Tensor &image, const Pixel &p) {
  return (p.panel * image.shape[1] + p.slow) * image.shape[2] + p.fast;
}

/// The sum as the op's description has it, one share after the other.
static double lightIn(const Pixel &p, const Tensor &image, const Shares &spread) {
  const int64_t radius = spread.radius();
  const int64_t slowEnd = std::min(image.shape[1], p.slow + radius + 1),
                fastEnd = std::min(image.shape[2], p.fast + radius + 1);
  double sum = 0;
  for (int64_t s = std::max<int64_t>(0, p.slow - radius); s < slowEnd; ++s)
    for (int64_t f = std::max<int64_t>(0, p.fast - radius); f < fastEnd; ++f)
      sum += spread(f - p.fast, s - p.slow) * image.get(indexOf(image, {p.panel, s, f}));
  return sum;
}

std::optional<Shares> PointSpreadPlan::shares(Frame &frame, const Tensor &image) const {
  const double width = *frame.reals(fwhm) / *frame.reals(pixelSize);
  const int64_t pixels = *frame.integers(radius);
  if (!(width > 0) || !std::isfinite(width)) {
    frame.fail(op, "the width of the point spread is " + std::to_string(width) +
                       " pixels; it must be above 0 and finite");
    return std::nullopt;
  }
  if (pixels < 0) {
    frame.fail(op, "the radius of the point spread is below 0");
    return std::nullopt;
  }
  return Shares(op.getKind(), width, pixels, unsigned(op.getOrder()),
                std::max(image.shape[1], image.shape[2]));
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
  const std::optional<Shares> spread = shares(frame, before);
  if (!spread)
    return;
  if (const std::optional<Pixel> &traced = frame.run->options.trace) {
    Tensor &after = makeImage(frame, ordinal, result, element, {1, 1, 1});
    if (before.size() == 1 && (traced->panel || traced->slow || traced->fast))
      return frame.fail(op, "'nb.point_spread' op needs the pixels around the traced one, which "
                            "are known only where it follows its nb.image at once");
    if (isInImage(frame, before, *traced))
      after.set(0, lightIn(*traced, before, *spread));
    return;
  }
  Tensor &after = makeImage(frame, ordinal, result, element, before.shape);
  nanobragg::ThreadTeam team(nanobragg::threadsOf(frame.run->options.threads));
  team.forEach(before.shape[0] * before.shape[1], [&](int64_t row, int) {
    Pixel p = {row / before.shape[1], row % before.shape[1], 0};
    for (; p.fast != before.shape[2]; ++p.fast)
      if (isInImage(frame, before, p))
        after.set(indexOf(before, p), lightIn(p, before, *spread));
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
