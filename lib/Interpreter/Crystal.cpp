#include "lib/Experiment/CellGeometry.h"
#include "lib/Interpreter/Map.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;
using nanobragg::UnitCell;

static double cellVolume(double a, double b, double c, double alpha, double beta, double gamma) {
  return UnitCell{a, b, c, alpha, beta, gamma}.volume();
}

static Mat3 reciprocalCell(CellRule rule, const UnitCell &cell) {
  auto [a, b, c] = nanobragg::defaultSetting(cell, rule == CellRule::right ? nanobragg::Rule::Right
                                                                           : nanobragg::Rule::C);
  auto vec = [](const nanobragg::Vec3 &v) { return Vec3{v[0], v[1], v[2]}; };
  return transposed(fromRows(vec(a), vec(b), vec(c)));
}

static LogicalResult planReciprocalCell(ReciprocalCellOp op, Planner &planner) {
  return map(
      planner, op,
      [rule = op.getRule()](double a, double b, double c, double alpha, double beta, double gamma) {
        return reciprocalCell(rule, {a, b, c, alpha, beta, gamma});
      });
}

/// Rows a, b, c of the basis that is reciprocal to the columns of `m`.
static Mat3 directCell(const Mat3 &m) {
  Vec3 a = column(m, 0), b = column(m, 1), c = column(m, 2);
  double V = 1 / dot(a, cross(b, c));
  return fromRows(cross(b, c) * V, cross(c, a) * V, cross(a, b) * V);
}

/// The same with lengths from elsewhere; the directions are those of the vector products alone.
static Mat3 directCellOfLengths(const Mat3 &m, double a, double b, double c) {
  Vec3 aStar = column(m, 0), bStar = column(m, 1), cStar = column(m, 2);
  return fromRows(unit(cross(bStar, cStar)) * a, unit(cross(cStar, aStar)) * b,
                  unit(cross(aStar, bStar)) * c);
}

static LogicalResult planDirectCell(DirectCellOp op, Planner &planner) {
  if (op.getLengths().empty())
    return map(planner, op, [](const Mat3 &m) { return directCell(m); });
  return map(planner, op, [](const Mat3 &m, double a, double b, double c) {
    return directCellOfLengths(m, a, b, c);
  });
}

static Vec3 scatteringVector(Vec3 diffracted, Vec3 incident, double wavelength) {
  Vec3 difference = diffracted - incident;
  return {difference.x / wavelength, difference.y / wavelength, difference.z / wavelength};
}

static bool withinResolution(Vec3 q, double dmin) {
  double stol = norm(q) / 2;
  return !(dmin > 0 && stol > 0 && dmin > 0.5 / stol);
}

static Vec3 millerIndex(Mat3 direct, Vec3 q) { return direct * q; }

static Vec3 nearestMillerIndex(Vec3 hkl) { return nearestReflection(hkl); }

static Vec3 neighbour(Vec3 hkl, int64_t number, int64_t around) {
  const int64_t side = 2 * around + 1;
  const auto step = [&](int64_t at) { return double(at % side - around); };
  const Vec3 nearest = nearestReflection(hkl);
  return {nearest.x + step(number / (side * side)), nearest.y + step(number / side),
          nearest.z + step(number)};
}

void evaluation::attachCrystal(MLIRContext *context) {
  evaluate<CellVolumeOp, cellVolume>(context);
  evaluateBy<ReciprocalCellOp, planReciprocalCell>(context);
  evaluateBy<DirectCellOp, planDirectCell>(context);
  evaluate<ScatteringVectorOp, scatteringVector>(context);
  evaluate<WithinResolutionOp, withinResolution>(context);
  evaluate<MillerIndexOp, millerIndex>(context);
  evaluate<NearestMillerIndexOp, nearestMillerIndex>(context);
  evaluate<NeighbourOp, neighbour>(context);
}
