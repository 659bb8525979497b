#include "dialect/RuleBuilder.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

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
