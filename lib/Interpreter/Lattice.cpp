#include "lib/Interpreter/Map.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
using std::numbers::pi;

/// |sin(pi x)|. Taking whole turns off x is exact and keeps the digits of the sine of a large one.
static double absSinPi(double x) { return std::abs(std::sin(pi * (x - std::rint(x)))); }

/// sin(pi N x) / sin(pi x), N at 0.
static double sincg(double x, double n) {
  return x == 0 ? n : std::sin(pi * n * x) / std::sin(pi * x);
}

/// |sin(pi N delta) / sin(pi delta)|.
static double grating(double delta, double n) {
  double below = absSinPi(delta);
  return below == 0 ? n : absSinPi(n * delta) / below;
}

static double sinc3(double x) {
  // Below this the first terms of the series are exact; the formula cancels there.
  if (std::abs(x) < 1e-2)
    return 1 - x * x / 10 + x * x * x * x / 280;
  return 3 * (std::sin(x) / x - std::cos(x)) / (x * x);
}

static Vec3 nearest(const Vec3 &hkl) {
  return {std::ceil(hkl.x - 0.5), std::ceil(hkl.y - 0.5), std::ceil(hkl.z - 0.5)};
}

/// sum (delta N)^2.
static double squaredRadius(const Vec3 &delta, const Vec3 &n) {
  Vec3 scaled = {delta.x * n.x, delta.y * n.y, delta.z * n.z};
  return dot(scaled, scaled);
}

/// The C program's: |delta_h a* + delta_k b* + delta_l c*|^2 (Na Nb Nc)^2, lengths in 1/Angstrom.
static double squaredRadiusOfC(const Vec3 &delta, const Vec3 &n, const Mat3 &reciprocal) {
  Vec3 q = (reciprocal * delta) * 1e-10;
  double cells = n.x * n.y * n.z;
  return dot(q, q) * (cells * cells);
}

static double spot(Shape shape, double cells, double squaredRadius) {
  switch (shape) {
  case Shape::round:
    return cells * std::sqrt(pi / 6) * sinc3(pi * std::sqrt(squaredRadius));
  case Shape::gauss:
    return cells * std::exp(-squaredRadius / 0.63);
  default:
    return squaredRadius < 0.63 * 0.63 ? cells : 0;
  }
}

static LogicalResult planSincg(SincgOp op, Planner &planner) {
  return map(planner, op, [](double x, double n) { return sincg(x, n); });
}

static LogicalResult planLatticeFactor(LatticeFactorOp op, Planner &planner) {
  auto deltaOf = [fraction = op.getFraction()](const Vec3 &hkl) {
    return fraction ? hkl : hkl - nearest(hkl);
  };
  if (op.getShape() == Shape::square)
    return map(planner, op, [deltaOf](const Vec3 &hkl, const Vec3 &n) {
      Vec3 delta = deltaOf(hkl);
      return grating(delta.x, n.x) * grating(delta.y, n.y) * grating(delta.z, n.z);
    });
  if (!op.getReciprocal())
    return map(planner, op,
               [deltaOf, shape = op.getShape()](const Vec3 &hkl, const Vec3 &n, double fudge) {
                 return spot(shape, n.x * n.y * n.z, squaredRadius(deltaOf(hkl), n) * fudge);
               });
  return map(planner, op,
             [deltaOf, shape = op.getShape()](const Vec3 &hkl, const Vec3 &n, double fudge,
                                              const Mat3 &reciprocal) {
               double r2 = squaredRadiusOfC(deltaOf(hkl), n, reciprocal);
               return spot(shape, n.x * n.y * n.z, r2 * fudge);
             });
}

void evaluation::attachLattice(MLIRContext *context) {
  evaluateBy<SincgOp, planSincg>(context);
  evaluateBy<LatticeFactorOp, planLatticeFactor>(context);
}
