#include "dialect/RuleBuilder.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

/// With the three spreads multiplied out, so that none of them is divided by.
Value SpreadAlongOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  Value s[3], squares, product;
  for (unsigned i = 0; i < 3; ++i)
    s[i] = r.component(getSpreads(), i);
  for (unsigned i = 0; i < 3; ++i) {
    Value part = r.mul(r.component(getAxis(), i), r.mul(s[(i + 1) % 3], s[(i + 2) % 3]));
    squares = squares ? r.add(squares, r.mul(part, part)) : r.mul(part, part);
    product = product ? r.mul(product, s[i]) : s[i];
  }
  Value undefined = r.isZero(squares);
  Value root = r.rsqrt(r.select(undefined, r.constant(getType(), 1), squares));
  return r.select(undefined, Value(), r.mul(product, root));
}

Value DiffuseFactorOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  constexpr double pi = std::numbers::pi;
  auto scaled = [&](Value v, Value factors) {
    Value sum;
    for (unsigned i = 0; i < 3; ++i) {
      Value part = r.mul(r.component(v, i), r.component(factors, i));
      sum = sum ? r.add(sum, r.mul(part, part)) : r.mul(part, part);
    }
    return r.mul(sum, 4 * pi * pi);
  };
  Value e = scaled(getReflection(), getDisplacements());
  Value u = r.add(scaled(getDistance(), getLengths()), r.constant(getType(), 1));
  Value volume = r.component(getLengths(), 0);
  for (unsigned i = 1; i < 3; ++i)
    volume = r.mul(volume, r.component(getLengths(), i));
  Value halo = r.div(r.mul(volume, 8 * pi), r.mul(u, u));
  return r.mul(r.mul(e, r.exp(r.neg(e))), halo);
}
