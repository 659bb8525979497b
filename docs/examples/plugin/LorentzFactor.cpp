// A plugin with a dialect of one op. Passes, both engines and derivatives treat it like an nb op.

#include "dialect/RuleBuilder.h"
#include "lib/Interpreter/Map.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"

#include <cmath>

#include "LorentzFactor.h.inc"
#define GET_OP_CLASSES
#include "LorentzFactor.ops.h.inc"

#include "LorentzFactor.cpp.inc"
#define GET_OP_CLASSES
#include "LorentzFactor.ops.cpp.inc"

using namespace mlir;

/// pi^(4/3)
static constexpr double sharpness = 4.601151114470490;

void own::OwnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "LorentzFactor.ops.cpp.inc"
      >();
}

namespace {
/// The formula, built with the functions of RuleBuilder.h.
struct Lorentz : nb::RuleBuilder {
  Lorentz(own::LorentzFactorOp op, OpBuilder &builder) : RuleBuilder(builder, op.getLoc()) {
    Value hkl = op.getHkl();
    delta = sub(hkl, nb::NearestMillerIndexOp::create(b, loc, hkl));
    for (unsigned i = 0; i < 3; ++i)
      n[i] = component(op.getNcells(), i);
  }

  Value squared(unsigned axis) {
    Value x = mul(n[axis], component(delta, axis));
    return mul(x, x);
  }
  Value numberOfCells() { return mul(mul(n[0], n[1]), n[2]); }
  Value denominator() {
    Value distance = add(add(squared(0), squared(1)), squared(2));
    return add(constant(distance.getType(), 1), mul(distance, sharpness));
  }

  Value delta, n[3];
};

/// The derivatives with respect to the three components of an operand.
Value gradient(own::LorentzFactorOp op, unsigned operand, OpBuilder &builder) {
  Lorentz r(op, builder);
  Value factor = op.getResult();
  Value slope = r.mul(r.div(factor, r.denominator()), -2 * sharpness);
  Value parts[3];
  for (unsigned i = 0; i < 3; ++i) {
    Value delta = r.component(r.delta, i);
    Value cells = operand == 0 ? r.mul(r.n[i], r.n[i]) : r.mul(r.n[i], delta);
    parts[i] = r.mul(slope, r.mul(cells, delta));
    if (operand == 1) // the factor Na Nb Nc depends on it, too
      parts[i] = r.add(parts[i], r.div(factor, r.n[i]));
  }
  return r.vec(parts[0], parts[1], parts[2]);
}
} // namespace

/// The formula in simpler ops, from which kernels are made.
Value own::LorentzFactorOp::expand(OpBuilder &builder) {
  Lorentz r(*this, builder);
  return r.div(r.numberOfCells(), r.denominator());
}

Value own::LorentzFactorOp::tangent(OpBuilder &builder, unsigned operand, Value tangent) {
  return nb::RuleBuilder(builder, getLoc()).dot(gradient(*this, operand, builder), tangent);
}

Value own::LorentzFactorOp::adjoint(OpBuilder &builder, unsigned operand, Value adjoint) {
  return nb::RuleBuilder(builder, getLoc()).scale(gradient(*this, operand, builder), adjoint);
}

/// The formula for the interpreter, written independently of expand().
static double lorentz(nb::evaluation::Vec3 hkl, nb::evaluation::Vec3 cells) {
  auto part = [](double h, double n) { return std::pow(n * (h - std::nearbyint(h)), 2); };
  const double distance = part(hkl.x, cells.x) + part(hkl.y, cells.y) + part(hkl.z, cells.z);
  return cells.x * cells.y * cells.z / (1 + sharpness * distance);
}

extern "C" __attribute__((visibility("default"))) DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "LorentzFactor", "1", [](DialectRegistry *registry) {
            registry->insert<own::OwnDialect>();
            registry->addExtension(+[](MLIRContext *context, own::OwnDialect *) {
              nb::evaluation::evaluate<own::LorentzFactorOp, lorentz>(context);
            });
          }};
}
