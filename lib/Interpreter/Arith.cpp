#include "lib/Interpreter/Integers.h"
#include "lib/Interpreter/Map.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <bit>

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

// Arithmetic wraps, as the machine's does.
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
static int64_t ceildivui(int64_t a, int64_t b) { return divui(a, b) + (remui(a, b) != 0); }
// A shift by the width or more has no defined result; 0 will do.
static int64_t shli(int64_t a, int64_t b) {
  return uint64_t(b) < 64 ? int64_t(uint64_t(a) << b) : 0;
}
static int64_t shrsi(int64_t a, int64_t b) { return uint64_t(b) < 64 ? a >> b : 0; }
static int64_t shrui(int64_t a, int64_t b) {
  return uint64_t(b) < 64 ? int64_t(uint64_t(a) >> b) : 0;
}

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

using OfIntegers = int64_t (*)(int64_t, int64_t);
using IntegerReading = int64_t (*)(int64_t, unsigned);

/// A function of two integers, which are read as signed or not; its result wraps.
template <typename Op, OfIntegers function, IntegerReading read = asSigned>
static LogicalResult planIntegers(Op op, Planner &planner) {
  return map(planner, op, [bits = bitsOf(op.getResult())](int64_t a, int64_t b) {
    return wrapped(function(read(a, bits), read(b, bits)), bits);
  });
}

/// An integer of another width.
template <typename Op, IntegerReading read>
static LogicalResult planResized(Op op, Planner &planner) {
  return map(planner, op, [from = bitsOf(op.getIn()), to = bitsOf(op.getResult())](int64_t a) {
    return wrapped(read(a, from), to);
  });
}

template <typename Op, IntegerReading read>
static LogicalResult planToFloat(Op op, Planner &planner) {
  return map(planner, op, [bits = bitsOf(op.getIn())](int64_t a) {
    const int64_t number = read(a, bits);
    return read == asUnsigned ? double(uint64_t(number)) : double(number);
  });
}

/// A number that does not fit has no defined result; 0 will do.
template <typename Op>
static LogicalResult planToInteger(Op op, Planner &planner) {
  constexpr bool isUnsigned = std::is_same_v<Op, arith::FPToUIOp>;
  return map(planner, op, [bits = bitsOf(op.getResult())](double a) {
    if (isUnsigned ? !(a > -1 && a < 0x1p64) : !(std::abs(a) < 0x1p63))
      return int64_t(0);
    return wrapped(isUnsigned ? int64_t(uint64_t(a)) : int64_t(a), bits);
  });
}

static LogicalResult planBitcast(arith::BitcastOp op, Planner &planner) {
  Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
  if (from.isF64() && to.isInteger(64))
    return map(planner, op, [](double a) { return std::bit_cast<int64_t>(a); });
  if (from.isInteger(64) && to.isF64())
    return map(planner, op, [](int64_t a) { return std::bit_cast<double>(a); });
  if (from.isF32() && to.isInteger(32))
    return map(planner, op, [](double a) { return int64_t(std::bit_cast<int32_t>(float(a))); });
  if (from.isInteger(32) && to.isF32())
    return map(planner, op, [](int64_t a) { return double(std::bit_cast<float>(int32_t(a))); });
  return op.emitOpError() << "from " << from << " to " << to << " has no evaluation";
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
  // The sign of a narrow integer in 64 bits does not change the order of unsigned ones.
  const bool isUnsigned = op.getPredicate() >= arith::CmpIPredicate::ult;
  return map(planner, op,
             [predicate = op.getPredicate(),
              bits = isUnsigned ? 64 : bitsOf(op.getLhs())](int64_t a, int64_t b) {
               return compare(predicate, asSigned(a, bits), asSigned(b, bits));
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
  evaluateBy<arith::AddIOp, planIntegers<arith::AddIOp, addi>>(context);
  evaluateBy<arith::SubIOp, planIntegers<arith::SubIOp, subi>>(context);
  evaluateBy<arith::MulIOp, planIntegers<arith::MulIOp, muli>>(context);
  evaluateBy<arith::DivSIOp, planIntegers<arith::DivSIOp, divsi>>(context);
  evaluateBy<arith::RemSIOp, planIntegers<arith::RemSIOp, remsi>>(context);
  evaluateBy<arith::FloorDivSIOp, planIntegers<arith::FloorDivSIOp, floordivsi>>(context);
  evaluateBy<arith::CeilDivSIOp, planIntegers<arith::CeilDivSIOp, ceildivsi>>(context);
  evaluateBy<arith::AndIOp, planIntegers<arith::AndIOp, andi>>(context);
  evaluateBy<arith::OrIOp, planIntegers<arith::OrIOp, ori>>(context);
  evaluateBy<arith::XOrIOp, planIntegers<arith::XOrIOp, xori>>(context);
  evaluateBy<arith::MaxSIOp, planIntegers<arith::MaxSIOp, maxsi>>(context);
  evaluateBy<arith::MinSIOp, planIntegers<arith::MinSIOp, minsi>>(context);
  evaluateBy<arith::MaxUIOp, planIntegers<arith::MaxUIOp, maxui, asUnsigned>>(context);
  evaluateBy<arith::MinUIOp, planIntegers<arith::MinUIOp, minui, asUnsigned>>(context);
  evaluateBy<arith::DivUIOp, planIntegers<arith::DivUIOp, divui, asUnsigned>>(context);
  evaluateBy<arith::RemUIOp, planIntegers<arith::RemUIOp, remui, asUnsigned>>(context);
  evaluateBy<arith::CeilDivUIOp, planIntegers<arith::CeilDivUIOp, ceildivui, asUnsigned>>(context);
  evaluateBy<arith::ShLIOp, planIntegers<arith::ShLIOp, shli, asUnsigned>>(context);
  evaluateBy<arith::ShRSIOp, planIntegers<arith::ShRSIOp, shrsi>>(context);
  evaluateBy<arith::ShRUIOp, planIntegers<arith::ShRUIOp, shrui, asUnsigned>>(context);
  evaluateBy<arith::CmpIOp, planCmpI>(context);
  evaluateBy<arith::SelectOp, planSelect>(context);
  evaluateBy<arith::IndexCastOp, planResized<arith::IndexCastOp, asSigned>>(context);
  evaluateBy<arith::IndexCastUIOp, planResized<arith::IndexCastUIOp, asUnsigned>>(context);
  evaluateBy<arith::TruncIOp, planResized<arith::TruncIOp, asSigned>>(context);
  evaluateBy<arith::ExtSIOp, planResized<arith::ExtSIOp, asSigned>>(context);
  evaluateBy<arith::ExtUIOp, planResized<arith::ExtUIOp, asUnsigned>>(context);
  evaluateBy<arith::SIToFPOp, planToFloat<arith::SIToFPOp, asSigned>>(context);
  evaluateBy<arith::UIToFPOp, planToFloat<arith::UIToFPOp, asUnsigned>>(context);
  evaluateBy<arith::FPToSIOp, planToInteger<arith::FPToSIOp>>(context);
  evaluateBy<arith::FPToUIOp, planToInteger<arith::FPToUIOp>>(context);
  evaluateBy<arith::BitcastOp, planBitcast>(context);
}
