#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;
using std::numbers::pi;

/// The elements of the symmetric matrix N = [[Na, D, F], [D, Nb, E], [F, E, Nc]].
struct WidthMatrix {
  WidthMatrix(LatticeFactorOp op, RuleBuilder &r) {
    Value d = r.component(op.getCross(), 0), e = r.component(op.getCross(), 1),
          f = r.component(op.getCross(), 2);
    for (unsigned i = 0; i < 3; ++i)
      at[i][i] = r.component(op.getNcells(), i);
    at[0][1] = at[1][0] = d;
    at[1][2] = at[2][1] = e;
    at[0][2] = at[2][0] = f;
  }

  Value determinant(RuleBuilder &r) const {
    Value product = r.mul(r.mul(at[0][0], at[1][1]), at[2][2]);
    Value crossed = r.mul(r.mul(at[0][1], at[1][2]), at[0][2]);
    product = r.add(product, r.add(crossed, crossed));
    for (unsigned i = 0; i < 3; ++i) {
      Value opposite = at[(i + 1) % 3][(i + 2) % 3];
      product = r.sub(product, r.mul(at[i][i], r.mul(opposite, opposite)));
    }
    return product;
  }

  /// Element i, j of N N.
  Value square(unsigned i, unsigned j, RuleBuilder &r) const {
    Value sum;
    for (unsigned k = 0; k < 3; ++k)
      sum = r.add(sum, r.mul(at[i][k], at[k][j]));
    return sum;
  }

  Value at[3][3];
};

/// The number of cells that an amplitude at a reflection stands for.
static Value amplitude(LatticeFactorOp op, RuleBuilder &r) {
  if (op.getCross())
    return WidthMatrix(op, r).determinant(r);
  Value cells = r.component(op.getNcells(), 0);
  for (unsigned axis = 1; axis < 3; ++axis)
    cells = r.mul(cells, r.component(op.getNcells(), axis));
  return cells;
}

/// The squared distance from the reflection, times the fudge factor and `factor`, as a quadratic form
/// of the fraction. Its coefficients do not change with the sample and have the six adjoints of a
/// symmetric matrix, where reciprocal vectors have nine.
static Value squaredRadius(LatticeFactorOp op, Value delta, Value cells, double factor,
                           RuleBuilder &r) {
  Value scale = r.mul(op.getFudge(), factor), d[3];
  for (unsigned i = 0; i < 3; ++i)
    d[i] = r.component(delta, i);
  Value sum;
  if (op.getCross()) {
    WidthMatrix widths(op, r);
    for (unsigned i = 0; i < 3; ++i) {
      Value row;
      for (unsigned j = i; j < 3; ++j) {
        Value form = r.mul(widths.square(i, j, r), scale);
        row = r.add(row, r.mul(d[j], i == j ? form : r.add(form, form)));
      }
      sum = r.add(sum, r.mul(row, d[i]));
    }
    return sum;
  }
  if (!op.getReciprocal()) {
    for (unsigned i = 0; i < 3; ++i) {
      Value n = r.component(op.getNcells(), i);
      sum = r.add(sum, r.mul(r.mul(d[i], r.mul(r.mul(n, n), scale)), d[i]));
    }
    return sum;
  }
  // In 1/Angstrom^2, as the C program's constants expect.
  scale = r.mul(r.mul(scale, r.mul(cells, cells)), 1e-20);
  for (unsigned i = 0; i < 3; ++i) {
    Value column = r.scale(r.column(op.getReciprocal(), i), scale), row;
    for (unsigned j = i; j < 3; ++j) {
      Value form = r.dot(column, r.column(op.getReciprocal(), j));
      row = r.add(row, r.mul(d[j], i == j ? form : r.add(form, form)));
    }
    sum = r.add(sum, r.mul(row, d[i]));
  }
  return sum;
}

Value LatticeFactorOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value delta = getHkl(), ncells = getNcells();
  if (!getFraction())
    delta = r.sub(delta, NearestMillerIndexOp::create(builder, getLoc(), delta));
  if (getShape() == Shape::square)
    return r.abs(GratingOp::create(builder, getLoc(), getType(), delta, ncells));

  Value cells = amplitude(*this, r);
  auto fudgedRadius2 = [&](double factor) { return squaredRadius(*this, delta, cells, factor, r); };
  switch (getShape()) {
  case Shape::round: {
    Value ball = BallOp::create(builder, getLoc(), getType(), fudgedRadius2(pi * pi));
    return r.mul(r.mul(cells, std::sqrt(pi / 6)), ball);
  }
  case Shape::gauss:
  case Shape::gauss_matrix:
    return r.mul(cells, r.exp(fudgedRadius2(-1 / 0.63)));
  case Shape::tophat:
    // The edge does not move the sum of a sampled image: only the volume has a derivative.
    return r.select(r.less(fudgedRadius2(1), r.constant(getType(), 0.63 * 0.63)), cells, Value());
  case Shape::square:
    break;
  }
  llvm_unreachable("square is handled above");
}

Value IntensityOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  // The sign of the amplitude does not count in the square, nor does its jump.
  Value amplitude = getLatticeFactor();
  if (auto magnitude = amplitude.getDefiningOp<math::AbsFOp>())
    amplitude = magnitude.getOperand();
  Value product = r.mul(getStructureFactor(), amplitude);
  return r.mul(product, product);
}
