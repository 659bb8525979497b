#include "dialect/CrystalShapes.h"

#include "lib/Experiment/Units.h"

#include <array>

using namespace mlir;
using namespace mlir::nb;
namespace constants = nanobragg::constants;
using nanobragg::SpotProfile;
using nanobragg::units::squareAngstrom;

static_assert(getMaxEnumValForShape() + 1 == std::size(nanobragg::crystalShapes),
              "NB_Shape and the table of shapes have the same rows");

/// Rows of the symmetric matrix [[Na, D, F], [D, Nb, E], [F, E, Nc]].
static std::array<Value, 3> widthMatrix(LatticeFactorOp op, RuleBuilder &r) {
  auto n = [&](unsigned i) { return r.component(op.getNcells(), i); };
  auto cross = [&](unsigned i) { return r.component(op.getCross(), i); };
  return {r.vec(n(0), cross(0), cross(2)), r.vec(cross(0), n(1), cross(1)),
          r.vec(cross(2), cross(1), n(2))};
}

Value nb::latticeAmplitude(LatticeFactorOp op, RuleBuilder &r) {
  Value n = op.getNcells();
  if (op.getCross()) {
    auto rows = widthMatrix(op, r);
    return r.dot(rows[0], r.cross(rows[1], rows[2]));
  }
  return r.mul(r.mul(r.component(n, 0), r.component(n, 1)), r.component(n, 2));
}

SmallVector<Value, 6> nb::distanceCoefficients(LatticeFactorOp op, double factor, RuleBuilder &r) {
  Value scale = r.mul(op.getFudge(), factor);
  SmallVector<Value, 6> coefficients;
  if (!op.getReciprocal() && !op.getCross()) {
    for (unsigned i = 0; i < 3; ++i) {
      Value n = r.component(op.getNcells(), i);
      coefficients.push_back(r.mul(r.mul(n, n), scale));
    }
    return coefficients;
  }
  // The metric of three vectors: the widths, or those of the reciprocal cell.
  std::array<Value, 3> vectors;
  if (op.getCross())
    vectors = widthMatrix(op, r);
  else
    for (unsigned i = 0; i < 3; ++i)
      vectors[i] = r.column(op.getReciprocal(), i);
  if (op.getReciprocal()) {
    // In 1/Angstrom^2, as the C program's constants expect.
    Value cells = latticeAmplitude(op, r);
    scale = r.mul(r.mul(r.mul(cells, cells), squareAngstrom), scale);
  }
  constexpr unsigned pairs[][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (auto [i, j] : pairs) {
    Value form = r.mul(r.dot(vectors[i], vectors[j]), scale);
    coefficients.push_back(i == j ? form : r.mul(form, 2));
  }
  return coefficients;
}

Value nb::quadraticForm(ArrayRef<Value> c, Value delta, RuleBuilder &r) {
  Value d[] = {r.component(delta, 0), r.component(delta, 1), r.component(delta, 2)};
  Value rows[] = {r.mul(d[0], c[0]), r.mul(d[1], c[1]), r.mul(d[2], c[2])};
  if (c.size() == 6) {
    rows[0] = r.add(r.add(rows[0], r.mul(d[1], c[3])), r.mul(d[2], c[4]));
    rows[1] = r.add(rows[1], r.mul(d[2], c[5]));
  }
  return r.add(r.add(r.mul(rows[0], d[0]), r.mul(rows[1], d[1])), r.mul(rows[2], d[2]));
}

Value nb::spotOf(Shape shape, Value cells, Value distance, RuleBuilder &r) {
  Type type = distance.getType();
  switch (rowOf(shape).profile) {
  case SpotProfile::Ball:
    return r.mul(r.mul(cells, constants::roundHeight),
                 BallOp::create(r.builder(), r.location(), type, distance));
  case SpotProfile::Gaussian:
    return r.mul(cells, r.exp(distance));
  case SpotProfile::Step:
    // The edge does not move the sum of a sampled image: only the volume has a derivative.
    return r.select(r.less(distance, r.constant(type, constants::tophatEdge)), cells, Value());
  case SpotProfile::Grating:
    break;
  }
  llvm_unreachable("a square crystal's factor is not a function of a distance");
}
