#include "lib/Transforms/Passes.h"

#include "dialect/NB.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "nb-set-precision"

namespace mlir::nb {
#define GEN_PASS_DEF_SETPRECISION
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
bool isDouble(Type type) {
  Type element = elementTypeOf(type);
  return isScalarOrLanes(element) && getElementTypeOrSelf(element).isF64();
}

bool isGeometric(Type type) { return isa<Vec3Type, Mat3Type>(type); }

/// Takes the values of one image's body to single precision, in the order of the program. A value
/// that is narrowed keeps its uses through an arith.extf, which the next op takes off again.
class Narrower {
public:
  Narrower(ImageOp image, bool everything)
      : image(image), everything(everything), b(image.getContext()),
        single(Float32Type::get(image.getContext())) {}

  void run();
  int64_t numNarrowed() const { return narrowed; }

private:
  bool startsNarrow(Operation *op);
  bool canBeNarrow(Operation *op);
  bool isOutside(Value value);
  Value narrow(Value value);
  Value convertParts(Value value, function_ref<Value(Value)> convert, Type type);
  Value widen(Value value, Type type);
  void rewrite(Operation *op);

  ImageOp image;
  bool everything;
  bool hasLatticeAmplitude = false;
  OpBuilder b;
  FloatType single;
  /// f32 form of values that are narrowed, under the f64 value that stands for them.
  DenseMap<Value, Value> singles;
  int64_t narrowed = 0;
};
} // namespace

/// Does the argument of an exponential or error function follow from a distance to a reflection?
/// In a Gaussian crystal it does in an average and in a derivative, where the lattice factor has
/// been expanded; that of a sensor's absorption, whose layers are differences, does not.
static bool isSpot(Operation *op) {
  auto image = op->getParentOfType<ImageOp>();
  llvm::SetVector<Operation *> slice;
  slice.insert(op);
  for (size_t i = 0; i < slice.size(); ++i) {
    if (isa<NearestMillerIndexOp, NeighbourOp>(slice[i]))
      return true;
    for (Value operand : slice[i]->getOperands())
      if (Operation *definition = operand.getDefiningOp();
          definition && image->isProperAncestor(definition))
        slice.insert(definition);
  }
  return false;
}

static bool isLatticeAmplitude(Operation *op) { return isa<LatticeFactorOp, GratingOp>(op); }

/// The ops that take an index and give an amplitude. A lookup by whole indices reads a table: its
/// entries are not all amplitudes, and their differences count. Without a lattice amplitude a
/// structure factor in f32 would only be widened again; beside an exponential alone, which is
/// multiplied with distances in f64, that was slower.
bool Narrower::startsNarrow(Operation *op) {
  if (auto factor = dyn_cast<StructureFactorOp>(op))
    return hasLatticeAmplitude && !factor.getIntegral();
  return isLatticeAmplitude(op) || (isa<math::ExpOp, math::ErfOp, math::ErfcOp>(op) && isSpot(op));
}

/// Computed outside the image, a constant or an entry of a table: a given number, whose rounding
/// changes no more than the last digit of what it is multiplied with.
bool Narrower::isOutside(Value value) {
  Operation *definition = value.getDefiningOp();
  return !image.getBody().isAncestor(value.getParentRegion()) ||
         isa_and_nonnull<LookupOp, arith::ConstantOp>(definition);
}

bool Narrower::canBeNarrow(Operation *op) {
  if (op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op))
    return false;
  auto isWide = [](Type type) { return isDouble(type); };
  bool takesFloats = llvm::any_of(op->getOperandTypes(), isWide);
  if (!takesFloats && !llvm::any_of(op->getResultTypes(), isWide))
    return false;
  bool elementwise = OpTrait::hasElementwiseMappableTraits(op);
  if (isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  // Tables, grids and images in memory are f64.
  if (isa<LookupOp, ReadPixelOp, ScatterOp, ScatterFactorOp>(op))
    return false;
  if (everything)
    return elementwise || isa<NBDialect>(op->getDialect()) || isa<ExpandableOp>(op);
  // Ops without a use for single precision keep their own; so does geometry, since no op of
  // these makes a vector of a number.
  bool anySingle = false;
  for (Value operand : op->getOperands()) {
    if (!isDouble(operand.getType()))
      continue;
    bool isSingle = singles.contains(operand);
    anySingle |= isSingle;
    if (!isSingle && !isOutside(operand))
      return false;
  }
  return anySingle && (elementwise || isa<IntensityOp, VecOp, ScaleOp>(op));
}

Value Narrower::convertParts(Value value, function_ref<Value(Value)> convert, Type type) {
  Location loc = value.getLoc();
  SmallVector<Value> parts;
  if (isa<Vec3Type>(type)) {
    for (int64_t i = 0; i < 3; ++i)
      parts.push_back(convert(ComponentOp::create(b, loc, value, i)));
    return VecOp::create(b, loc, parts[0], parts[1], parts[2]);
  }
  for (int64_t i = 0; i < 9; ++i)
    parts.push_back(convert(ElementOp::create(b, loc, value, i / 3, i % 3)));
  return MatOp::create(b, loc, type, parts);
}

Value Narrower::narrow(Value value) {
  if (!isDouble(value.getType()))
    return value;
  Value &known = singles[value];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  // Where it is computed once: ahead of the image, or right behind the lookup.
  if (image.getBody().isAncestor(value.getParentRegion()))
    b.setInsertionPointAfterValue(value);
  else
    b.setInsertionPoint(image);
  Type type = withPrecision(value.getType(), single);
  auto truncate = [&](Value part) -> Value {
    return arith::TruncFOp::create(b, value.getLoc(), withPrecision(part.getType(), single), part);
  };
  Value result = isGeometric(type) ? convertParts(value, truncate, type) : truncate(value);
  return singles[value] = result;
}

Value Narrower::widen(Value value, Type type) {
  auto extend = [&](Value part) -> Value {
    return arith::ExtFOp::create(b, value.getLoc(), withPrecision(part.getType(), b.getF64Type()),
                                 part);
  };
  return isGeometric(type) ? convertParts(value, extend, type) : extend(value);
}

void Narrower::rewrite(Operation *op) {
  b.setInsertionPoint(op);
  bool starts = startsNarrow(op) && !everything;
  OperationState state(op->getLoc(), op->getName());
  for (OpOperand &operand : op->getOpOperands()) {
    // Indices and distances; not an exponent, nor what stands for an unknown structure factor.
    bool keeps = starts && !isa<math::ExpOp, math::ErfOp, math::ErfcOp>(op) &&
                 !(isa<StructureFactorOp>(op) &&
                   operand.get() == cast<StructureFactorOp>(op).getDefaultValue());
    state.operands.push_back(keeps ? operand.get() : narrow(operand.get()));
  }
  for (Type type : op->getResultTypes())
    state.types.push_back(isDouble(type) ? withPrecision(type, single) : type);
  state.attributes = op->getAttrs();
  Operation *result = b.create(state);
  for (auto [old, value] : llvm::zip(op->getResults(), result->getResults())) {
    if (old.getType() == value.getType()) {
      old.replaceAllUsesWith(value);
      continue;
    }
    Value wide = widen(value, old.getType());
    singles[wide] = value;
    old.replaceAllUsesWith(wide);
  }
  op->erase();
  ++narrowed;
}

void Narrower::run() {
  SmallVector<Operation *> ops;
  image.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  hasLatticeAmplitude = llvm::any_of(ops, isLatticeAmplitude);
  for (Operation *op : ops)
    if ((startsNarrow(op) && isDouble(op->getResult(0).getType())) || canBeNarrow(op)) {
      LDBG() << "in f32: " << *op;
      rewrite(op);
    }
  // Extensions that nothing in f64 uses.
  ops.clear();
  image.getBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

namespace {
struct SetPrecisionPass : nb::impl::SetPrecisionBase<SetPrecisionPass> {
  using SetPrecisionBase::SetPrecisionBase;

  void runOnOperation() override {
    SmallVector<ImageOp> images;
    getOperation()->walk([&](ImageOp image) { images.push_back(image); });
    if (precision == nanobragg::Precision::F64) {
      for (ImageOp image : images)
        remarkNothing(image.getLoc(), DEBUG_TYPE, "", "all ops compute in f64, as asked");
      return;
    }
    for (ImageOp image : images) {
      Narrower narrower(image, precision == nanobragg::Precision::F32);
      narrower.run();
      narrowed += narrower.numNarrowed();
      auto named = [&](StringRef name) {
        return remark::RemarkOpts::name(name).category(DEBUG_TYPE);
      };
      if (narrower.numNarrowed() == 0)
        nb::remarkMissed(image.getLoc(), named("narrowed"))
            << "nothing here follows from a lattice factor or a structure factor in f64";
      else
        nb::remarkPassed(image.getLoc(), named("narrowed"))
            << llvm::formatv("{0} op(s) compute in f32", narrower.numNarrowed()).str();
    }
  }
};
} // namespace
