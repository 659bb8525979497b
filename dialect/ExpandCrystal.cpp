#include "dialect/RuleBuilder.h"

#include <array>

using namespace mlir;
using namespace mlir::nb;

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// Rodrigues' formula: n n^T (1 - cos) + cos + [n]x sin.
Value AxisRotationOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value axis = getAxis(), sine = r.sin(getAngle()), cosine = r.cos(getAngle());
  Value versine = r.sub(r.constant(sine.getType(), 1), cosine);
  Value s[3], minus[3];
  for (unsigned i = 0; i < 3; ++i) {
    s[i] = r.mul(r.component(axis, i), sine);
    minus[i] = r.neg(s[i]);
  }
  Value turn = r.mat({cosine, minus[2], s[1], s[2], cosine, minus[0], minus[1], s[0], cosine});
  return r.add(r.scale(r.outer(axis, axis), versine), turn);
}

/// a = sin(t)/t and b = (1 - cos(t))/t^2 of the square of t.
static std::pair<Value, Value> rotationFactors(RuleBuilder &r, Value square) {
  // Near 0 by their series, which stay smooth there: below 1/4 the ninth term is below 1e-20.
  auto series = [&](unsigned first) {
    Value sum = r.constant(square.getType(), 1);
    for (unsigned k = 8; k > 0; --k) {
      const double ratio = -1.0 / ((2 * k + first - 1) * (2 * k + first));
      sum = r.add(r.constant(square.getType(), 1), r.mul(r.mul(square, ratio), sum));
    }
    return sum;
  };
  Value one = r.constant(square.getType(), 1);
  Value near = r.less(square, r.constant(square.getType(), 0.25));
  Value far = r.select(near, one, square), angle = r.sqrt(far);
  Value a = r.select(near, series(1), r.div(r.sin(angle), angle));
  Value b = r.select(near, r.mul(series(2), 0.5), r.div(r.sub(one, r.cos(angle)), far));
  return {a, b};
}

/// (1 - b t^2) + b w w^T + a [w]x.
Value VectorRotationOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value w = getRotation(), square = r.dot(w, w);
  auto [a, b] = rotationFactors(r, square);
  Value diagonal = r.sub(r.constant(square.getType(), 1), r.mul(b, square));
  Value s[3], minus[3];
  for (unsigned i = 0; i < 3; ++i) {
    s[i] = r.mul(r.component(w, i), a);
    minus[i] = r.neg(s[i]);
  }
  Value turn =
      r.mat({diagonal, minus[2], s[1], s[2], diagonal, minus[0], minus[1], s[0], diagonal});
  return r.add(r.scale(r.outer(w, w), b), turn);
}

/// A matrix, which all vectors have in common that are turned alike.
Value TurnOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value gibbs = getGibbs(), square = r.dot(gibbs, gibbs), one = r.constant(square.getType(), 1);
  Value factor = r.div(r.constant(square.getType(), 2), r.add(square, one));
  Value g[3], a[3], own[3];
  for (unsigned i = 0; i < 3; ++i) {
    g[i] = r.component(gibbs, i);
    a[i] = r.mul(g[i], factor);
    own[i] = r.mul(g[i], a[i]);
  }
  Value xy = r.mul(g[0], a[1]), xz = r.mul(g[0], a[2]), yz = r.mul(g[1], a[2]);
  const auto diagonal = [&](unsigned i, unsigned j) { return r.sub(one, r.add(own[i], own[j])); };
  return r.transform(r.mat({diagonal(1, 2), r.sub(xy, a[2]), r.add(xz, a[1]), //
                            r.add(xy, a[2]), diagonal(0, 2), r.sub(yz, a[0]), //
                            r.sub(xz, a[1]), r.add(yz, a[0]), diagonal(0, 1)}),
                     getVector());
}

/// Rz Ry Rx, written out.
Value EulerRotationOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value sx = r.sin(getX()), cx = r.cos(getX());
  Value sy = r.sin(getY()), cy = r.cos(getY());
  Value sz = r.sin(getZ()), cz = r.cos(getZ());
  Value sxsy = r.mul(sx, sy), cxsy = r.mul(cx, sy);
  return r.mat({r.mul(cz, cy), r.sub(r.mul(cz, sxsy), r.mul(sz, cx)),
                r.add(r.mul(cz, cxsy), r.mul(sz, sx)), r.mul(sz, cy),
                r.add(r.mul(sz, sxsy), r.mul(cz, cx)), r.sub(r.mul(sz, cxsy), r.mul(cz, sx)),
                r.neg(sy), r.mul(cy, sx), r.mul(cy, cx)});
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Value CellVolumeOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value angles[] = {getAlpha(), getBeta(), getGamma()};
  Value s = r.mul(r.add(r.add(angles[0], angles[1]), angles[2]), 0.5);
  Value product = r.sin(s);
  for (Value angle : angles)
    product = r.mul(product, r.sin(r.sub(s, angle)));
  Value edges = r.mul(r.mul(getA(), getB()), getC());
  return r.mul(r.mul(edges, 2), r.sqrt(r.abs(product)));
}

Value ReciprocalCellOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  std::array<Value, 3> lengths = {getA(), getB(), getC()};
  std::array<Value, 3> angles = {getAlpha(), getBeta(), getGamma()};
  std::array<Value, 3> sines, cosines;
  for (unsigned i = 0; i < 3; ++i) {
    sines[i] = r.sin(angles[i]);
    cosines[i] = r.cos(angles[i]);
  }
  Value volume = CellVolumeOp::create(builder, getLoc(), getA().getType(), lengths[0], lengths[1],
                                      lengths[2], angles[0], angles[1], angles[2]);
  Value inverse = r.reciprocal(volume);

  std::array<Value, 3> starLengths, starCosines;
  for (unsigned i = 0; i < 3; ++i) {
    unsigned j = (i + 1) % 3, k = (i + 2) % 3;
    starLengths[i] = r.mul(r.mul(r.mul(lengths[j], lengths[k]), sines[i]), inverse);
    starCosines[i] =
        r.div(r.sub(r.mul(cosines[j], cosines[k]), cosines[i]), r.mul(sines[j], sines[k]));
  }
  Value starSine = r.div(r.mul(lengths[2], inverse), r.mul(starLengths[0], starLengths[1]));
  Value y = r.div(r.sub(starCosines[0], r.mul(starCosines[1], starCosines[2])), starSine);
  // V and 1 / (abc) of the cell for the C program's z, V* and 1 / (a* b* c*) for the right one.
  bool right = getRule() == CellRule::right;
  std::array<Value, 3> &edges = right ? starLengths : lengths;
  Value box = r.mul(r.mul(edges[0], edges[1]), edges[2]);
  Value z = r.div(right ? inverse : volume, r.mul(box, starSine));

  Value zero = r.zeroLike(z);
  return r.mat({starLengths[0], r.mul(starLengths[1], starCosines[2]),
                r.mul(starLengths[2], starCosines[1]), zero, r.mul(starLengths[1], starSine),
                r.mul(starLengths[2], y), zero, zero, r.mul(starLengths[2], z)});
}

Value DirectCellOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value columns[3], rows[3];
  for (unsigned i = 0; i < 3; ++i)
    columns[i] = r.column(getReciprocal(), i);
  for (unsigned i = 0; i < 3; ++i)
    rows[i] = r.cross(columns[(i + 1) % 3], columns[(i + 2) % 3]);
  Value inverse = getLengths().empty() ? r.reciprocal(r.dot(columns[0], rows[0])) : Value();
  SmallVector<Value, 9> elements;
  for (unsigned i = 0; i < 3; ++i) {
    Value row = r.scale(rows[i], inverse ? inverse : r.div(getLengths()[i], r.norm(rows[i])));
    for (unsigned j = 0; j < 3; ++j)
      elements.push_back(r.component(row, j));
  }
  return r.mat(elements);
}
