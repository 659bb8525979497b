#include "lib/Conversion/Arith/GridToArith.h"
#include "lib/Conversion/Arith/LoweredValues.h"
#include "lib/Conversion/Arith/ShapesToArith.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#include <cmath>

#define DEBUG_TYPE "convert-nb-to-arith"

namespace mlir::nb {
#define GEN_PASS_DEF_CONVERTNBTOARITH
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

ValueRange nb::splitArgument(BlockArgument argument) {
  for (Operation *user : argument.getUsers())
    if (auto parts = dyn_cast<PartsOp>(user))
      return parts.getParts();
  OpBuilder b = OpBuilder::atBlockBegin(argument.getOwner());
  return PartsOp::create(b, argument.getLoc(), partsOf(argument.getType()), argument).getParts();
}

ValueRange LoweredValues::components(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return *found->second;
  Components parts;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && isa<Vec3Type, Mat3Type>(value.getType()))
    parts = llvm::to_vector<9>(splitArgument(argument));
  else
    parts.push_back(value);
  auto &kept = known[value] = std::make_unique<Components>(std::move(parts));
  return *kept;
}

GridParts LoweredValues::grid(Value grid) {
  ValueRange parts = splitArgument(cast<BlockArgument>(grid));
  return {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6]};
}

namespace {
/// 1 / sqrt(x). Where x is a choice between 1 and a number, the root is taken of the number, as
/// normalizing a vector does.
Value reciprocalSqrt(Value x, Arithmetic &a) {
  auto choice = x.getDefiningOp<arith::SelectOp>();
  if (!choice || !isa<VectorType>(x.getType()) ||
      !matchPattern(choice.getTrueValue(), m_OneFloat()))
    return a.reciprocalSqrt(x);
  return a.select(choice.getCondition(), choice.getTrueValue(),
                  a.reciprocalSqrt(choice.getFalseValue()));
}

/// The nearest number between two bounds, NaN where one of the three is.
Value clamp(math::ClampFOp op, OpBuilder &b) {
  Value above = arith::MaximumFOp::create(b, op.getLoc(), op.getValue(), op.getMin());
  return arith::MinimumFOp::create(b, op.getLoc(), above, op.getMax());
}

/// LLVM's powers take one exponent for all lanes.
Value power(math::FPowIOp op, OpBuilder &b) {
  Value exponent = arith::SIToFPOp::create(b, op.getLoc(), op.getType(), op.getRhs());
  return math::PowFOp::create(b, op.getLoc(), op.getLhs(), exponent);
}

/// Is the magnitude of a float at least `least`, and below infinity where it has to be?
Value hasSize(Value x, double least, bool finite, Arithmetic &a, OpBuilder &b) {
  Value size = math::AbsFOp::create(b, x.getLoc(), x);
  Value enough = a.lessEqual(a.constant(x.getType(), least), size);
  return finite ? a.both(enough, a.less(size, a.constant(x.getType(), HUGE_VAL))) : enough;
}

double smallestNormal(Type type) {
  return APFloat::getSmallestNormalized(
             cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics())
      .convertToDouble();
}

/// A function in own steps: those that physics is made of, which are shorter than those of a math
/// library and right where physics asks for them, and those that LLVM does not have. Null for
/// another op.
Value lowerFunction(Operation *op, Arithmetic &a, OpBuilder &b) {
  if (auto f = dyn_cast<math::IsInfOp>(op))
    return hasSize(f.getOperand(), HUGE_VAL, false, a, b);
  if (auto f = dyn_cast<math::IsNormalOp>(op))
    return hasSize(f.getOperand(), smallestNormal(f.getOperand().getType()), true, a, b);
  if (op->getNumResults() != 1 || !isScalarOrLanes(op->getResult(0).getType()))
    return {};
  if (Value made = TypeSwitch<Operation *, Value>(op)
                       .Case<math::ErfOp>([&](auto f) { return a.erf(f.getOperand()); })
                       .Case<math::ErfcOp>([&](auto f) { return a.erfc(f.getOperand()); })
                       .Case<math::Log1pOp>([&](auto f) { return a.log1p(f.getOperand()); })
                       .Case<math::ExpM1Op>([&](auto f) { return a.expm1(f.getOperand()); })
                       .Case<math::CbrtOp>([&](auto f) { return a.cbrt(f.getOperand()); })
                       .Case<math::AsinhOp>([&](auto f) { return a.asinh(f.getOperand()); })
                       .Case<math::AcoshOp>([&](auto f) { return a.acosh(f.getOperand()); })
                       .Case<math::AtanhOp>([&](auto f) { return a.atanh(f.getOperand()); })
                       .Case<math::ClampFOp>([&](auto f) { return clamp(f, b); })
                       .Case<math::FPowIOp>([&](auto f) { return power(f, b); })
                       .Default([](Operation *) { return Value(); }))
    return made;
  if (!bitEnumContainsAll(flagsOf(op), arith::FastMathFlags::afn)) {
    auto root = dyn_cast<math::RsqrtOp>(op);
    return root ? a.div(a.constant(root.getType(), 1), a.sqrt(root.getOperand())) : Value();
  }
  return TypeSwitch<Operation *, Value>(op)
      .Case<math::SinOp>([&](auto f) { return a.sinCos(f.getOperand()).first; })
      .Case<math::CosOp>([&](auto f) { return a.sinCos(f.getOperand()).second; })
      .Case<math::ExpOp>([&](auto f) { return a.exp(f.getOperand()); })
      .Case<math::RsqrtOp>([&](auto f) { return reciprocalSqrt(f.getOperand(), a); })
      .Default([](Operation *) { return Value(); });
}

/// `sum` plus the term; of a term that is a sum itself each part in turn, so that a product among
/// them is added in one instruction.
Value addParts(Value sum, Value term, OpBuilder &b) {
  auto parts = term.getDefiningOp<arith::AddFOp>();
  if (!parts || !parts->hasOneUse() ||
      !bitEnumContainsAll(parts.getFastmath(),
                          arith::FastMathFlags::contract | arith::FastMathFlags::reassoc))
    return arith::AddFOp::create(b, term.getLoc(), sum, term, arith::FastMathFlags::contract);
  return addParts(addParts(sum, parts.getLhs(), b), parts.getRhs(), b);
}

/// Sums that loops carry add up the parts of their terms one by one.
void addPartsInLoops(Operation *root) {
  root->walk([](scf::ForOp loop) {
    for (auto [carried, yielded] : llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues())) {
      auto sum = yielded.getDefiningOp<arith::AddFOp>();
      if (!sum || sum.getLhs() != carried || !sum->hasOneUse() ||
          !bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::contract))
        continue;
      OpBuilder b(sum);
      sum.replaceAllUsesWith(addParts(carried, sum.getRhs(), b));
      sum.erase();
    }
  });
}

bool rounds(Operation *op) { return isa<math::CeilOp, math::FloorOp, math::RoundEvenOp>(op); }

void keepFlags(Operation *root, function_ref<arith::FastMathFlags(Operation *)> kept) {
  root->walk([&](Operation *op) {
    auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
    if (!arithmetic || !arithmetic.getFastMathFlagsAttr())
      return;
    op->setAttr(arithmetic.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), flagsOf(op) & kept(op)));
  });
}

/// The formula that the dialect writes with simpler ops; null for an op that has its own way to
/// arithmetic. A lattice factor in f32 of an index in f64 has: its phase is taken in fixed point.
Value expandFormula(Operation *op, OpBuilder &b) {
  auto expandable = dyn_cast<ExpandableOp>(op);
  auto lattice = dyn_cast<LatticeFactorOp>(op);
  bool narrows = lattice && lattice.getType() != elementTypeOf(lattice.getHkl().getType());
  return expandable && !narrows ? expandable.expand(b) : Value();
}

struct CreatedOps : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};

/// Takes the ops under `root` to arithmetic in the order of the program, each together with what it
/// becomes.
class Lowering {
public:
  Lowering(Operation *root, bool estimates) : root(root), estimates(estimates) {}
  LogicalResult run();

private:
  LogicalResult lower(Operation *op);
  LogicalResult lowerCreated(const CreatedOps &created);
  LogicalResult lowerToComponents(Operation *op, Arithmetic &a);
  LogicalResult eraseLowered();

  Operation *root;
  bool estimates;
  LoweredValues values;
  SmallVector<Operation *> lowered; ///< still there for those who ask what an operand was
};

LogicalResult Lowering::lowerToComponents(Operation *op, Arithmetic &a) {
  // How arguments and results lie in memory is for nb-outline-kernel.
  if (!isa_and_nonnull<NBDialect>(op->getDialect()) || isa<PartsOp, StoredOp, ReachOp>(op))
    return success();
  Components parts = lowerGeometry(op, values, a);
  if (parts.empty())
    parts = lowerDiffraction(op, values, a);
  if (parts.empty())
    return op->emitError() << "'" << op->getName()
                           << "' has no lowering to arithmetic; convert loops and tables with "
                              "--convert-nb-to-loops and erase probes with --nb-erase-probes first";
  Value old = op->getResult(0);
  if (isa<Vec3Type, Mat3Type>(old.getType()))
    values.set(old, std::move(parts));
  else
    old.replaceAllUsesWith(parts.front());
  lowered.push_back(op);
  return success();
}

LogicalResult Lowering::lower(Operation *op) {
  CreatedOps created;
  OpBuilder b(op, &created);
  Arithmetic a(b, op->getLoc(), estimates);
  if (isa<math::IPowIOp>(op))
    return op->emitError() << "'" << op->getName()
                           << "' has no code; write it with arith.muli, or as math.fpowi of floats";
  if (auto both = dyn_cast<math::SincosOp>(op)) {
    Value x = both.getOperand();
    const arith::FastMathFlags flags = both.getFastmath();
    const bool approximate = bitEnumContainsAll(flags, arith::FastMathFlags::afn);
    const auto [sine, cosine] =
        approximate ? a.sinCos(x)
                    : std::pair<Value, Value>(math::SinOp::create(b, both.getLoc(), x, flags),
                                              math::CosOp::create(b, both.getLoc(), x, flags));
    both.replaceAllUsesWith(ValueRange{sine, cosine});
    both.erase();
    return lowerCreated(created);
  }
  Value value = lowerFunction(op, a, b);
  if (!value)
    value = expandFormula(op, b);
  if (value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  } else if (failed(lowerToComponents(op, a))) {
    return failure();
  }
  return lowerCreated(created);
}

LogicalResult Lowering::lowerCreated(const CreatedOps &created) {
  for (Operation *part : created.ops)
    if (failed(lower(part)))
      return failure();
  return success();
}

LogicalResult Lowering::eraseLowered() {
  for (Operation *op : llvm::reverse(lowered)) {
    if (!op->use_empty()) {
      InFlightDiagnostic diagnostic = op->emitError()
                                      << "value of type " << op->getResult(0).getType()
                                      << " reaches an op that cannot be lowered to arithmetic";
      diagnostic.attachNote((*op->user_begin())->getLoc()) << "used here";
      return diagnostic;
    }
    op->erase();
  }
  return success();
}

LogicalResult Lowering::run() {
  findScaledGratings(root, values);
  SmallVector<Operation *> ops;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(lower(op)))
      return failure();
  return eraseLowered();
}

struct ConvertNBToArithPass : nb::impl::ConvertNBToArithBase<ConvertNBToArithPass> {
  using ConvertNBToArithBase::ConvertNBToArithBase;

  void runOnOperation() override {
    const auto [physics, others] = countOps();
    using enum arith::FastMathFlags;
    // The argument of a rounding is small where Arithmetic says so, and nowhere else.
    keepFlags(getOperation(), [](Operation *op) { return rounds(op) ? fast ^ afn : fast; });
    if (failed(Lowering(getOperation(), estimates).run()))
      return signalPassFailure();
    addPartsInLoops(getOperation());
    // Steps of Arithmetic that round on purpose stand among ops that were physics.
    keepFlags(getOperation(), [](Operation *op) { return rounds(op) ? contract | afn : contract; });
    // LLVM's changes of precision have no flags.
    getOperation()->walk([](arith::TruncFOp op) { op.removeFastmathAttr(); });
    getOperation()->walk([](arith::ExtFOp op) { op.removeFastmathAttr(); });
    const auto [left, arithmetic] = countOps();
    converted += uint64_t(physics - left);
    LDBG() << physics - left << " op(s) became " << arithmetic - others;
    if (physics != left)
      nb::remarkPassed(getOperation()->getLoc(),
                       remark::RemarkOpts::name("converted").category(DEBUG_TYPE))
          << remark::add("{0} op(s) of the nb dialect became {1} op(s) of arithmetic",
                         physics - left, arithmetic - others);
  }

private:
  /// The numbers of ops of the nb dialect and of others.
  std::pair<int64_t, int64_t> countOps() {
    std::pair<int64_t, int64_t> counts;
    getOperation()->walk([&](Operation *op) {
      ++(isa_and_nonnull<NBDialect>(op->getDialect()) ? counts.first : counts.second);
    });
    return counts;
  }
};
} // namespace
