#include "lib/Experiment/Units.h"
#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/ShapeFunctions.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
namespace constants = nanobragg::constants;
using std::numbers::pi;

/// sum (delta N)^2.
static double squaredRadius(const Vec3 &delta, const Vec3 &n) {
  Vec3 scaled = {delta.x * n.x, delta.y * n.y, delta.z * n.z};
  return dot(scaled, scaled);
}

/// The C program's: |delta_h a* + delta_k b* + delta_l c*|^2 (Na Nb Nc)^2, lengths in 1/Angstrom.
static double squaredRadiusOfC(const Vec3 &delta, const Vec3 &n, const Mat3 &reciprocal) {
  Vec3 q = (reciprocal * delta) * nanobragg::units::angstrom;
  double cells = n.x * n.y * n.z;
  return dot(q, q) * (cells * cells);
}

/// N = [[Na, D, F], [D, Nb, E], [F, E, Nc]].
static Mat3 widthMatrix(const Vec3 &n, const Vec3 &cross) {
  auto [d, e, f] = cross;
  return {{{n.x, d, f}, {d, n.y, e}, {f, e, n.z}}};
}

static double spot(Shape shape, double cells, double squaredRadius) {
  switch (shape) {
  case Shape::round:
    return cells * constants::roundHeight * ball(pi * pi * squaredRadius);
  case Shape::gauss:
  case Shape::gauss_matrix:
    return cells * std::exp(-squaredRadius / constants::gaussWidth);
  case Shape::tophat:
    return squaredRadius < constants::tophatEdge ? cells : 0;
  case Shape::square:
    break;
  }
  llvm_unreachable("a square crystal's factor is not a function of a distance");
}

static LogicalResult planSincg(SincgOp op, Planner &planner) {
  return map(planner, op,
             [order = GratingOrder{unsigned(op.getOrder()), unsigned(op.getCells())}](
                 double x, double n) { return grating(x, n, order); });
}

/// The factor of one axis; the gratings of the same crystal share those that they have in common.
struct GratingFactor {
  Slot slot;
  bool isNew;
  GratingOrder order;
};

static LogicalResult planGrating(GratingOp op, Planner &planner) {
  std::array<GratingFactor, 3> factors;
  for (unsigned i = 0; i < 3; ++i) {
    GratingOrder order = {unsigned(op.getOrder()[i]), unsigned(op.getCells()[i])};
    auto [slot, isNew] = planner.shared(op, {i, order.byX, order.byCells});
    factors[i] = {slot, isNew, order};
  }
  Slot delta = planner.slot(op.getDelta()), cells = planner.slot(op.getNcells());
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op.getResult(), dims);
  if (failed(result))
    return failure();
  planner.step(op, dims, [=, out = *result](Frame &frame) {
    int64_t lanes = frame.lanesOf(out);
    for (unsigned i = 0; i < 3; ++i) {
      if (!factors[i].isNew)
        continue;
      AnyOperand<Vec3> x(frame.reals(delta), delta.varying), n(frame.reals(cells), cells.varying);
      auto axis = [i](const Vec3 &v) { return i == 0 ? v.x : i == 1 ? v.y : v.z; };
      for (int64_t lane = 0; lane < lanes; ++lane)
        frame.reals(factors[i].slot)[lane] =
            grating(axis(x[lane]), axis(n[lane]), factors[i].order);
    }
    const double *f[] = {frame.reals(factors[0].slot), frame.reals(factors[1].slot),
                         frame.reals(factors[2].slot)};
    for (int64_t lane = 0; lane < lanes; ++lane)
      frame.reals(out)[lane] = f[0][lane] * f[1][lane] * f[2][lane];
    if (out.single)
      roundToSingle(frame, out);
  });
  return success();
}

static LogicalResult planBall(BallOp op, Planner &planner) {
  return map(planner, op, [order = unsigned(op.getOrder())](double u) { return ball(u, order); });
}

static LogicalResult planLatticeFactor(LatticeFactorOp op, Planner &planner) {
  auto deltaOf = [fraction = op.getFraction()](const Vec3 &hkl) {
    return fraction ? hkl : hkl - nearestReflection(hkl);
  };
  if (op.getShape() == Shape::square)
    return map(planner, op, [deltaOf](const Vec3 &hkl, const Vec3 &n) {
      Vec3 delta = deltaOf(hkl);
      return std::abs(grating(delta.x, n.x) * grating(delta.y, n.y) * grating(delta.z, n.z));
    });
  if (op.getCross())
    return map(planner, op,
               [deltaOf](const Vec3 &hkl, const Vec3 &n, double fudge, const Vec3 &cross) {
                 Mat3 widths = widthMatrix(n, cross);
                 Vec3 v = widths * deltaOf(hkl);
                 return spot(Shape::gauss_matrix, determinant(widths), dot(v, v) * fudge);
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
  evaluateBy<GratingOp, planGrating>(context);
  evaluateBy<BallOp, planBall>(context);
  evaluateBy<LatticeFactorOp, planLatticeFactor>(context);
}
