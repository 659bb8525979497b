#include "lib/Interpreter/Map.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

static double addf(double a, double b) { return a + b; }
static double subf(double a, double b) { return a - b; }
static double mulf(double a, double b) { return a * b; }
static double divf(double a, double b) { return a / b; }
static double remf(double a, double b) { return std::fmod(a, b); }
static double negf(double a) { return -a; }
static double same(double a) { return a; }

/// NaN if either is.
static double maximumf(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : std::signbit(a) ? std::max(b, a) : std::max(a, b);
}
static double minimumf(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? a + b : std::signbit(a) ? std::min(a, b) : std::min(b, a);
}
/// The other one if one is NaN.
static double maxnumf(double a, double b) { return std::fmax(a, b); }
static double minnumf(double a, double b) { return std::fmin(a, b); }

// Index arithmetic wraps, as the machine's does.
static int64_t addi(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
static int64_t subi(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
static int64_t muli(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
static int64_t andi(int64_t a, int64_t b) { return a & b; }
static int64_t ori(int64_t a, int64_t b) { return a | b; }
static int64_t xori(int64_t a, int64_t b) { return a ^ b; }
static int64_t maxsi(int64_t a, int64_t b) { return std::max(a, b); }
static int64_t minsi(int64_t a, int64_t b) { return std::min(a, b); }
static int64_t maxui(int64_t a, int64_t b) { return uint64_t(a) > uint64_t(b) ? a : b; }
static int64_t minui(int64_t a, int64_t b) { return uint64_t(a) < uint64_t(b) ? a : b; }
static int64_t divui(int64_t a, int64_t b) { return b ? int64_t(uint64_t(a) / uint64_t(b)) : 0; }
static int64_t remui(int64_t a, int64_t b) { return b ? int64_t(uint64_t(a) % uint64_t(b)) : 0; }
static int64_t sameInteger(int64_t a) { return a; }
static double unsignedToFloat(int64_t a) { return double(uint64_t(a)); }
/// A number that does not fit has no defined result; 0 will do.
static int64_t toInteger(double a) { return std::abs(a) < 0x1p63 ? int64_t(a) : 0; }

/// Dividing by zero is undefined; 0 keeps the interpreter alive where a branch not taken does it.
static int64_t divsi(int64_t a, int64_t b) { return b == -1 ? subi(0, a) : b ? a / b : 0; }
static int64_t remsi(int64_t a, int64_t b) { return subi(a, muli(divsi(a, b), b)); }
static int64_t floordivsi(int64_t a, int64_t b) {
  int64_t rest = remsi(a, b);
  return divsi(a, b) - (b && rest != 0 && (rest < 0) != (b < 0));
}
static int64_t ceildivsi(int64_t a, int64_t b) {
  int64_t rest = remsi(a, b);
  return divsi(a, b) + (b && rest != 0 && (rest < 0) == (b < 0));
}

static LogicalResult planConstant(arith::ConstantOp op, Planner &planner) {
  auto slot = planner.define(op.getResult(), 0);
  if (failed(slot))
    return failure();
  Attribute attribute = op.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    planner.step(op, 0, [out = *slot, x = number.getValueAsDouble()](Frame &frame) {
      *frame.reals(out) = x;
    });
    return success();
  }
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    int64_t value = number.getType().isInteger(1) ? number.getValue().getZExtValue()
                                                  : number.getValue().getSExtValue();
    planner.step(op, 0, [out = *slot, value](Frame &frame) { *frame.integers(out) = value; });
    return success();
  }
  return op.emitOpError("holds something that the interpreter has no value for");
}

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::ORD:
    return !unordered;
  case P::UNO:
    return unordered;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  }
  return false;
}

static LogicalResult planCmpF(arith::CmpFOp op, Planner &planner) {
  return map(planner, op, [predicate = op.getPredicate()](double a, double b) {
    return compare(predicate, a, b);
  });
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return a < b;
  case P::sle:
    return a <= b;
  case P::sgt:
    return a > b;
  case P::sge:
    return a >= b;
  case P::ult:
    return uint64_t(a) < uint64_t(b);
  case P::ule:
    return uint64_t(a) <= uint64_t(b);
  case P::ugt:
    return uint64_t(a) > uint64_t(b);
  case P::uge:
    return uint64_t(a) >= uint64_t(b);
  }
  return false;
}

static LogicalResult planCmpI(arith::CmpIOp op, Planner &planner) {
  return map(planner, op, [predicate = op.getPredicate()](int64_t a, int64_t b) {
    return compare(predicate, a, b);
  });
}

static LogicalResult planSelect(arith::SelectOp op, Planner &planner) {
  auto slot = slotFor(op.getType(), false);
  if (failed(slot) || slot->kind == Kind::Object)
    return op.emitOpError() << "between values of type " << op.getType() << " has no evaluation";
  if (slot->kind == Kind::Integer)
    return map(planner, op, [](bool c, int64_t a, int64_t b) { return c ? a : b; });
  if (slot->components == 3)
    return map(planner, op, [](bool c, const Vec3 &a, const Vec3 &b) { return c ? a : b; });
  if (slot->components == 9)
    return map(planner, op, [](bool c, const Mat3 &a, const Mat3 &b) { return c ? a : b; });
  return map(planner, op, [](bool c, double a, double b) { return c ? a : b; });
}

static LogicalResult planTruncI(arith::TruncIOp op, Planner &planner) {
  unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
  if (width == 1)
    return map(planner, op, [](int64_t a) { return int64_t(a & 1); });
  return map(planner, op,
             [shift = 64 - width](int64_t a) { return int64_t(uint64_t(a) << shift) >> shift; });
}

/// An i1 that is set is -1 when it is signed.
static LogicalResult planSIToFP(arith::SIToFPOp op, Planner &planner) {
  if (getElementTypeOrSelf(op.getIn().getType()).isInteger(1))
    return map(planner, op, [](int64_t a) { return double(-a); });
  return map(planner, op, [](int64_t a) { return double(a); });
}

static LogicalResult planExtSI(arith::ExtSIOp op, Planner &planner) {
  if (getElementTypeOrSelf(op.getIn().getType()).isInteger(1))
    return map(planner, op, [](int64_t a) { return -a; });
  return map(planner, op, [](int64_t a) { return a; });
}

static LogicalResult planExtUI(arith::ExtUIOp op, Planner &planner) {
  unsigned width = getElementTypeOrSelf(op.getIn().getType()).getIntOrFloatBitWidth();
  return map(planner, op, [mask = (uint64_t(1) << width) - 1](int64_t a) {
    return int64_t(uint64_t(a) & mask);
  });
}

void evaluation::attachArith(MLIRContext *context) {
  evaluateBy<arith::ConstantOp, planConstant>(context);
  evaluate<arith::AddFOp, addf>(context);
  evaluate<arith::SubFOp, subf>(context);
  evaluate<arith::MulFOp, mulf>(context);
  evaluate<arith::DivFOp, divf>(context);
  evaluate<arith::RemFOp, remf>(context);
  evaluate<arith::NegFOp, negf>(context);
  evaluate<arith::MaximumFOp, maximumf>(context);
  evaluate<arith::MinimumFOp, minimumf>(context);
  evaluate<arith::MaxNumFOp, maxnumf>(context);
  evaluate<arith::MinNumFOp, minnumf>(context);
  evaluate<arith::ExtFOp, same>(context);
  evaluate<arith::TruncFOp, same>(context);
  evaluateBy<arith::CmpFOp, planCmpF>(context);
  evaluate<arith::AddIOp, addi>(context);
  evaluate<arith::SubIOp, subi>(context);
  evaluate<arith::MulIOp, muli>(context);
  evaluate<arith::DivSIOp, divsi>(context);
  evaluate<arith::RemSIOp, remsi>(context);
  evaluate<arith::FloorDivSIOp, floordivsi>(context);
  evaluate<arith::CeilDivSIOp, ceildivsi>(context);
  evaluate<arith::AndIOp, andi>(context);
  evaluate<arith::OrIOp, ori>(context);
  evaluate<arith::XOrIOp, xori>(context);
  evaluate<arith::MaxSIOp, maxsi>(context);
  evaluate<arith::MinSIOp, minsi>(context);
  evaluate<arith::MaxUIOp, maxui>(context);
  evaluate<arith::MinUIOp, minui>(context);
  evaluate<arith::DivUIOp, divui>(context);
  evaluate<arith::RemUIOp, remui>(context);
  evaluate<arith::IndexCastUIOp, sameInteger>(context);
  evaluateBy<arith::CmpIOp, planCmpI>(context);
  evaluateBy<arith::SelectOp, planSelect>(context);
  evaluate<arith::IndexCastOp, sameInteger>(context);
  evaluateBy<arith::SIToFPOp, planSIToFP>(context);
  evaluate<arith::UIToFPOp, unsignedToFloat>(context);
  evaluate<arith::FPToSIOp, toInteger>(context);
  evaluateBy<arith::TruncIOp, planTruncI>(context);
  evaluateBy<arith::ExtSIOp, planExtSI>(context);
  evaluateBy<arith::ExtUIOp, planExtUI>(context);
}
