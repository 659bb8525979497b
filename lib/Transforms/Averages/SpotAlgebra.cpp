#include "lib/Transforms/Averages/SpotAlgebra.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nb;

Value nb::minimum(Value x, Value y, RuleBuilder &r) {
  return arith::MinimumFOp::create(r.builder(), r.location(), x, y);
}
Value nb::maximum(Value x, Value y, RuleBuilder &r) {
  return arith::MaximumFOp::create(r.builder(), r.location(), x, y);
}
Value nb::clampedTo(Value most, Value x, RuleBuilder &r) {
  return maximum(r.neg(most), minimum(most, x, r), r);
}
Value nb::clampedToHalf(Value x, RuleBuilder &r) {
  return clampedTo(r.constant(x.getType(), 0.5), x, r);
}
Value nb::plus(Value x, double y, RuleBuilder &r) { return r.add(x, r.constant(x.getType(), y)); }

Symmetric nb::withOuter(Symmetric m, Value v, Value weight, RuleBuilder &r) {
  Value x = r.component(v, 0), y = r.component(v, 1), z = r.component(v, 2);
  const auto add = [&](Value sum, Value a, Value b) {
    Value product = r.mul(a, b);
    return r.add(sum, weight ? r.mul(product, weight) : product);
  };
  return {add(m.xx, x, x), add(m.yy, y, y), add(m.zz, z, z),
          add(m.xy, x, y), add(m.xz, x, z), add(m.yz, y, z)};
}

Symmetric nb::cofactorsOf(const Symmetric &m, RuleBuilder &r) {
  const auto minor = [&](Value a, Value b, Value c, Value d) {
    return r.sub(r.mul(a, b), r.mul(c, d));
  };
  return {minor(m.yy, m.zz, m.yz, m.yz), minor(m.xx, m.zz, m.xz, m.xz),
          minor(m.xx, m.yy, m.xy, m.xy), minor(m.xz, m.yz, m.xy, m.zz),
          minor(m.xy, m.yz, m.xz, m.yy), minor(m.xy, m.xz, m.xx, m.yz)};
}

Value nb::determinantOf(const Symmetric &m, const Symmetric &cofactors, RuleBuilder &r) {
  return r.add(r.add(r.mul(m.xx, cofactors.xx), r.mul(m.xy, cofactors.xy)),
               r.mul(m.xz, cofactors.xz));
}

Symmetric nb::scaled(const Symmetric &m, Value by, RuleBuilder &r) {
  return {r.mul(m.xx, by), r.mul(m.yy, by), r.mul(m.zz, by),
          r.mul(m.xy, by), r.mul(m.xz, by), r.mul(m.yz, by)};
}

Value nb::times(const Symmetric &m, Value v, RuleBuilder &r) {
  Value x = r.component(v, 0), y = r.component(v, 1), z = r.component(v, 2);
  const auto row = [&](Value a, Value b, Value c) {
    return r.add(r.add(r.mul(a, x), r.mul(b, y)), r.mul(c, z));
  };
  return r.vec(row(m.xx, m.xy, m.xz), row(m.xy, m.yy, m.yz), row(m.xz, m.yz, m.zz));
}
