#include "dialect/RuleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <numbers>

using namespace mlir;
using namespace mlir::nb;

namespace {
/// The context of a rule: operands, result, and the words to write with. A derivative has the flags
/// of its op.
struct Context : RuleBuilder {
  Operation *op;
  Context(OpBuilder &builder, Operation *op)
      : RuleBuilder(builder, op->getLoc(), flagsOf(op) | arith::FastMathFlags::contract), op(op) {}
  Value x() { return op->getOperand(0); }
  Value y() { return op->getOperand(1); }
  Value z() { return op->getOperand(2); }
  Value result() { return op->getResult(0); }
  Value number(double value) { return constant(result().getType(), value); }
  Value square(Value v) { return mul(v, v); }
  /// 1/y of a quotient x/y, which is the quotient itself for x = 1.
  Value inverseOfDivisor() { return matchPattern(x(), m_OneFloat()) ? result() : reciprocal(y()); }
  Value greaterOrEqual(Value u, Value v) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, u, v);
  }
  Value minimumIsFirst() { return greaterOrEqual(y(), x()); }
  Value maximumIsFirst() { return greaterOrEqual(x(), y()); }
  Value isBelowEnd() { return greaterOrEqual(z(), x()); }
  Value power(Value base, Value exponent) {
    return math::PowFOp::create(b, loc, base, exponent, flags);
  }
  /// n x^(n-1) of x^n with a whole n.
  Value slopeOfPower() {
    Value one = arith::ConstantOp::create(b, loc, b.getOneAttr(y().getType()));
    Value less = arith::SubIOp::create(b, loc, y(), one);
    Value n = arith::SIToFPOp::create(b, loc, result().getType(), y());
    return mul(n, math::FPowIOp::create(b, loc, x(), less, flags));
  }
  template <typename OpTy>
  Value call(Value v) {
    return OpTy::create(b, loc, v, flags);
  }
  /// t / divisor, 0 for a divisor of 0.
  Value overOrZero(Value t, Value divisor) {
    Value none = isZero(divisor);
    return select(none, Value(), div(t, select(none, number(1), divisor)));
  }
};

/// The contribution of one operand: linear in t, and the same for tangents and adjoints, because
/// these functions act on each lane by itself.
using Rule = Value (*)(Context &c, Value t);

template <typename OpTy, Rule... rules>
struct RuleModel : DifferentiableOp::ExternalModel<RuleModel<OpTy, rules...>, OpTy> {
  Value tangent(Operation *op, OpBuilder &builder, unsigned operand, Value tangent) const {
    static constexpr Rule table[] = {rules...};
    Context context(builder, op);
    return table[operand](context, tangent);
  }
  Value adjoint(Operation *op, OpBuilder &builder, unsigned operand, Value adjoint) const {
    return tangent(op, builder, operand, adjoint);
  }
};

template <typename OpTy>
struct InactiveModel : InactiveOp::ExternalModel<InactiveModel<OpTy>, OpTy> {};

/// Changes of precision: the adjoint goes the other way.
template <typename OpTy, typename Opposite>
struct CastModel : DifferentiableOp::ExternalModel<CastModel<OpTy, Opposite>, OpTy> {
  Value tangent(Operation *op, OpBuilder &builder, unsigned, Value tangent) const {
    return OpTy::create(builder, op->getLoc(), op->getResult(0).getType(), tangent);
  }
  Value adjoint(Operation *op, OpBuilder &builder, unsigned, Value adjoint) const {
    return Opposite::create(builder, op->getLoc(), op->getOperand(0).getType(), adjoint);
  }
};
} // namespace

template <typename OpTy, Rule... rules>
static void differentiable(MLIRContext *context) {
  OpTy::template attachInterface<RuleModel<OpTy, rules...>>(*context);
}

template <typename... Ops>
static void inactive(MLIRContext *context) {
  (Ops::template attachInterface<InactiveModel<Ops>>(*context), ...);
}

// One rule for each operand, in their order.
#define RULE(...) [](Context &c, Value t) -> Value { return __VA_ARGS__; }

static void attachArith(MLIRContext *context) {
  using namespace arith;
  differentiable<AddFOp, RULE(t), RULE(t)>(context);
  differentiable<SubFOp, RULE(t), RULE(c.neg(t))>(context);
  differentiable<MulFOp, RULE(c.mul(t, c.y())), RULE(c.mul(t, c.x()))>(context);
  differentiable<DivFOp, RULE(c.mul(t, c.inverseOfDivisor())),
                 RULE(c.neg(c.mul(c.mul(t, c.result()), c.inverseOfDivisor())))>(context);
  // x - y trunc(x/y): the whole number changes by jumps.
  differentiable<RemFOp, RULE(t),
                 RULE(c.neg(c.mul(t, c.call<math::TruncOp>(c.div(c.x(), c.y())))))>(context);
  differentiable<NegFOp, RULE(c.neg(t))>(context);
  // Where operands are equal the first counts.
  differentiable<MaximumFOp, RULE(c.select(c.maximumIsFirst(), t, {})),
                 RULE(c.select(c.maximumIsFirst(), {}, t))>(context);
  differentiable<MinimumFOp, RULE(c.select(c.minimumIsFirst(), t, {})),
                 RULE(c.select(c.minimumIsFirst(), {}, t))>(context);
  differentiable<MaxNumFOp, RULE(c.select(c.maximumIsFirst(), t, {})),
                 RULE(c.select(c.maximumIsFirst(), {}, t))>(context);
  differentiable<MinNumFOp, RULE(c.select(c.minimumIsFirst(), t, {})),
                 RULE(c.select(c.minimumIsFirst(), {}, t))>(context);
  differentiable<SelectOp, RULE({}), RULE(c.select(c.x(), t, {})), RULE(c.select(c.x(), {}, t))>(
      context);
  ExtFOp::attachInterface<CastModel<ExtFOp, TruncFOp>>(*context);
  TruncFOp::attachInterface<CastModel<TruncFOp, ExtFOp>>(*context);
  inactive<ConstantOp, SIToFPOp, UIToFPOp>(context);
}

static void attachMath(MLIRContext *context) {
  using namespace math;
  constexpr double pi = std::numbers::pi, ln2 = std::numbers::ln2, ln10 = std::numbers::ln10;
  // |x| is differentiated as if 0 were positive.
  differentiable<AbsFOp, RULE(c.mul(t, c.signOf(c.x())))>(context);
  differentiable<CopySignOp, RULE(c.mul(t, c.mul(c.signOf(c.x()), c.signOf(c.y())))), RULE({})>(
      context);
  // Infinite at 0; 0 there, as for the length of a vector.
  differentiable<SqrtOp, RULE(c.overOrZero(c.mul(t, 0.5), c.result()))>(context);
  differentiable<CbrtOp, RULE(c.overOrZero(c.mul(t, 1.0 / 3), c.square(c.result())))>(context);
  differentiable<ClampFOp, RULE(c.select(c.maximumIsFirst(), c.select(c.isBelowEnd(), t, {}), {})),
                 RULE(c.select(c.maximumIsFirst(), {}, t)),
                 RULE(c.select(c.maximumIsFirst(), c.select(c.isBelowEnd(), {}, t), {}))>(context);
  differentiable<RsqrtOp, RULE(c.mul(c.mul(t, -0.5), c.mul(c.square(c.result()), c.result())))>(
      context);
  differentiable<SinOp, RULE(c.mul(t, c.cos(c.x())))>(context);
  differentiable<CosOp, RULE(c.neg(c.mul(t, c.sin(c.x()))))>(context);
  differentiable<TanOp, RULE(c.mul(t, c.add(c.number(1), c.square(c.result()))))>(context);
  differentiable<AsinOp, RULE(c.div(t, c.sqrt(c.sub(c.number(1), c.square(c.x())))))>(context);
  differentiable<AcosOp, RULE(c.neg(c.div(t, c.sqrt(c.sub(c.number(1), c.square(c.x()))))))>(
      context);
  differentiable<AtanOp, RULE(c.div(t, c.add(c.number(1), c.square(c.x()))))>(context);
  // atan2(y, x); 0 at the origin, where the angle has none.
  differentiable<
      Atan2Op, RULE(c.overOrZero(c.mul(t, c.y()), c.add(c.square(c.x()), c.square(c.y())))),
      RULE(c.neg(c.overOrZero(c.mul(t, c.x()), c.add(c.square(c.x()), c.square(c.y())))))>(context);
  differentiable<SinhOp, RULE(c.mul(t, c.call<CoshOp>(c.x())))>(context);
  differentiable<CoshOp, RULE(c.mul(t, c.call<SinhOp>(c.x())))>(context);
  differentiable<TanhOp, RULE(c.mul(t, c.sub(c.number(1), c.square(c.result()))))>(context);
  differentiable<AsinhOp, RULE(c.div(t, c.sqrt(c.add(c.square(c.x()), c.number(1)))))>(context);
  differentiable<AcoshOp, RULE(c.div(t, c.sqrt(c.sub(c.square(c.x()), c.number(1)))))>(context);
  differentiable<AtanhOp, RULE(c.div(t, c.sub(c.number(1), c.square(c.x()))))>(context);
  differentiable<ExpOp, RULE(c.mul(t, c.result()))>(context);
  differentiable<Exp2Op, RULE(c.mul(c.mul(t, c.result()), ln2))>(context);
  differentiable<ExpM1Op, RULE(c.mul(t, c.add(c.result(), c.number(1))))>(context);
  differentiable<LogOp, RULE(c.div(t, c.x()))>(context);
  differentiable<Log2Op, RULE(c.div(t, c.mul(c.x(), ln2)))>(context);
  differentiable<Log10Op, RULE(c.div(t, c.mul(c.x(), ln10)))>(context);
  differentiable<Log1pOp, RULE(c.div(t, c.add(c.x(), c.number(1))))>(context);
  differentiable<PowFOp, RULE(c.mul(t, c.mul(c.y(), c.power(c.x(), c.sub(c.y(), c.number(1)))))),
                 RULE(c.select(c.isZero(c.x()), {},
                               c.mul(t, c.mul(c.result(), c.call<LogOp>(c.x())))))>(context);
  differentiable<FPowIOp, RULE(c.mul(t, c.slopeOfPower())), RULE({})>(context);
  differentiable<ErfOp, RULE(c.mul(c.mul(t, c.exp(c.neg(c.square(c.x())))), 2 / std::sqrt(pi)))>(
      context);
  differentiable<ErfcOp, RULE(c.mul(c.mul(t, c.exp(c.neg(c.square(c.x())))), -2 / std::sqrt(pi)))>(
      context);
  differentiable<FmaOp, RULE(c.mul(t, c.y())), RULE(c.mul(t, c.x())), RULE(t)>(context);
  inactive<FloorOp, CeilOp, TruncOp, RoundOp, RoundEvenOp>(context);
}

#undef RULE

void nb::attachArithDerivatives(MLIRContext *context) {
  attachArith(context);
  attachMath(context);
}
