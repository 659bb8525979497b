#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "dialect/NB.h"
#include "dialect/Names.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "nb-vectorize"

namespace mlir::nb {
#define GEN_PASS_DEF_VECTORIZE
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Types whose values exist per lane; grids, tables and masks are shared by all lanes.
bool hasLaneForm(Type type) {
  return isScalarOrLanes(type) || isIndexOrLanes(type) ||
         isa<IntegerType, Vec3Type, Mat3Type>(type);
}

bool isOverLanes(Type type) { return isa<VectorType>(elementTypeOf(type)); }

/// Rewrites the body of one image so that values that depend on the fast pixel index are lanes.
class LaneRewriter {
public:
  LaneRewriter(ImageOp image, int64_t width, int64_t rows)
      : image(image), width(width), rows(rows), b(image), spread(image.getContext()) {}

  /// The new image, the old one where that has lanes already; null after a diagnostic.
  ImageOp run();
  int64_t numLaneOps() const { return laneOps; }
  int64_t numScalarOps() const { return scalarOps; }

private:
  LogicalResult rewriteBlock(Block &from);
  LogicalResult rewriteOp(Operation *op);
  LogicalResult rewriteLoop(LoopOp loop);
  LogicalResult rewriteFor(scf::ForOp loop);
  LogicalResult refuse(Operation *op, const char *why);
  LogicalResult rewriteAccess(Operation *op);
  LogicalResult rewriteInLanes(Operation *op, ValueRange operands);
  bool rewriteGuardedLookup(LookupOp op);
  /// The index of a lookup, mapped: one that all lanes share where any of them reads the entry,
  /// else 0. Null where they share none.
  Value sharedIndex(Value index);
  LogicalResult rewriteYield(YieldOp yield);
  /// The lane form of a mapped value: itself, or spread right after its definition.
  Value lanes(Value mapped);
  bool dependsOnLanes(Operation *op);
  /// Dividing lanes by a number that they share, where the flags allow it: one scalar division,
  /// which leaves the loops.
  bool multiplyByReciprocal(arith::DivFOp op);

  ImageOp image;
  int64_t width, rows;
  OpBuilder b, spread;
  IRMapping mapping;
  DenseMap<Value, Value> spreadValues;
  Block *imageBody = nullptr;
  int64_t laneOps = 0, scalarOps = 0;
};
} // namespace

Value LaneRewriter::lanes(Value mapped) {
  if (isOverLanes(mapped.getType()) || !hasLaneForm(mapped.getType()))
    return mapped;
  Value &cached = spreadValues[mapped];
  if (cached)
    return cached;
  // Right after the definition when that is inside the image, else at the top of its body.
  Operation *definition = mapped.getDefiningOp();
  Block *block = mapped.getParentBlock();
  bool inside = imageBody->getParent()->isAncestor(block->getParent());
  if (!inside)
    spread.setInsertionPointToStart(imageBody);
  else if (definition)
    spread.setInsertionPointAfter(definition);
  else
    spread.setInsertionPointToStart(block);
  Type type = withLanes(mapped.getType(), width);
  Location loc = mapped.getLoc();
  if (isa<Vec3Type, Mat3Type>(type))
    cached = SplatOp::create(spread, loc, type, mapped);
  else
    cached = vector::BroadcastOp::create(spread, loc, type, mapped);
  return cached;
}

bool LaneRewriter::dependsOnLanes(Operation *op) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isOverLanes(mapping.lookupOrDefault(operand).getType());
  });
}

LogicalResult LaneRewriter::rewriteYield(YieldOp yield) {
  // The new parent's results are lanes wherever its body may need them to be.
  SmallVector<Value> values;
  Operation *parent = b.getInsertionBlock()->getParentOp();
  for (Value value : yield.getValues()) {
    Value mapped = mapping.lookupOrDefault(value);
    values.push_back(isa<TabulateOp>(parent) ? mapped : lanes(mapped));
  }
  YieldOp::create(b, yield.getLoc(), values);
  return success();
}

LogicalResult LaneRewriter::refuse(Operation *op, const char *why) {
  InFlightDiagnostic diagnostic = op->emitError() << "'" << op->getName() << "' " << why;
  diagnostic.attachNote(image.getLoc()) << "in the image vectorized here";
  return failure();
}

/// A loop that takes the same path for all lanes: what it carries is in lanes, but for indices.
LogicalResult LaneRewriter::rewriteFor(scf::ForOp from) {
  SmallVector<Value> start;
  for (Value value : from.getInitArgs()) {
    Value mapped = mapping.lookupOrDefault(value);
    start.push_back(mapped.getType().isIndex() ? mapped : lanes(mapped));
  }
  SmallVector<Value> bounds;
  for (Value bound : {from.getLowerBound(), from.getUpperBound(), from.getStep()})
    bounds.push_back(mapping.lookupOrDefault(bound));
  if (llvm::any_of(bounds, [](Value bound) { return isOverLanes(bound.getType()); }))
    return refuse(from,
                  "runs a number of times that depends on the pixel, and pixels in lanes run "
                  "together; run it as often as any pixel needs, and choose with arith.select");
  auto loop = scf::ForOp::create(b, from.getLoc(), bounds[0], bounds[1], bounds[2], start);
  loop->setDiscardableAttrs(from->getDiscardableAttrDictionary());
  for (auto [old, now] :
       llvm::zip(from.getBody()->getArguments(), loop.getBody()->getArguments())) {
    now.setLoc(old.getLoc());
    mapping.map(old, now);
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  for (Operation &op : from.getBody()->without_terminator())
    if (failed(rewriteOp(&op)))
      return failure();
  SmallVector<Value> carried;
  for (auto [value, type] : llvm::zip(from.getYieldedValues(), loop.getResultTypes())) {
    Value mapped = mapping.lookupOrDefault(value);
    carried.push_back(type.isIndex() ? mapped : lanes(mapped));
    if (carried.back().getType() != type)
      return refuse(from, "carries an index that depends on the pixel; carry it as a number "
                          "(arith.index_cast, arith.sitofp)");
  }
  if (!carried.empty())
    scf::YieldOp::create(b, from.getLoc(), carried);
  mapping.map(from->getResults(), loop->getResults());
  return success();
}

LogicalResult LaneRewriter::rewriteLoop(LoopOp from) {
  if (isa<TabulateOp>(from))
    return from->emitError("a table cannot be made inside an image; run --nb-hoist-invariants "
                           "first");
  if (llvm::any_of(from->getOperands(), [&](Value operand) {
        return isOverLanes(mapping.lookupOrDefault(operand).getType());
      }))
    return refuse(
        from, "has a count that depends on the pixel, and pixels in lanes count together; take the "
              "largest count of any pixel, and yield 0 (arith.select) beyond that of a pixel");
  // A sum over pixels in lanes is itself lanes, whatever it sums: at worst a spread constant.
  // Tables and grids are shared by all lanes.
  OperationState state(from->getLoc(), from->getName());
  for (Value operand : from->getOperands())
    state.operands.push_back(mapping.lookupOrDefault(operand));
  for (Type type : from->getResultTypes())
    state.types.push_back(hasLaneForm(type) ? withLanes(type, width) : type);
  state.attributes = from->getAttrs();
  state.addRegion();
  Operation *loop = b.create(state);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&loop->getRegion(0));
  for (BlockArgument iv : from.getInductionVars())
    mapping.map(iv, body->addArgument(iv.getType(), iv.getLoc()));
  if (failed(rewriteBlock(*from.getBodyBlock())))
    return failure();
  mapping.map(from->getResults(), loop->getResults());
  return success();
}

bool LaneRewriter::multiplyByReciprocal(arith::DivFOp op) {
  Value divisor = mapping.lookupOrDefault(op.getRhs());
  if (isOverLanes(divisor.getType()) ||
      !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::arcp))
    return false;
  Location loc = op.getLoc();
  Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(divisor.getType(), 1));
  Value reciprocal = arith::DivFOp::create(b, loc, one, divisor, op.getFastmath());
  mapping.map(op.getResult(),
              arith::MulFOp::create(b, loc, lanes(mapping.lookupOrDefault(op.getLhs())),
                                    lanes(reciprocal), op.getFastmath())
                  .getResult());
  ++laneOps;
  return true;
}

/// Ops with a place or number that is the same for all lanes, and values of each.
LogicalResult LaneRewriter::rewriteAccess(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value mapped = mapping.lookupOrDefault(operand);
    bool position = isIndexOrLanes(mapped.getType());
    if (position && isOverLanes(mapped.getType()) && !isa<ReadPixelOp>(op))
      return op->emitError() << "'" << op->getName() << "' depends on a pixel for its place";
    operands.push_back(position ? mapped : lanes(mapped));
  }
  return rewriteInLanes(op, operands);
}

Value LaneRewriter::sharedIndex(Value index) {
  // Guarded by branches within branches, it is read where any lane takes all of them.
  Value isRead;
  while (isOverLanes(mapping.lookupOrDefault(index).getType())) {
    auto guard = index.getDefiningOp<arith::SelectOp>();
    if (!guard || !guard->hasAttr(names::guard))
      return {};
    const bool inThen = matchPattern(guard.getFalseValue(), m_Zero());
    Location loc = guard.getLoc();
    Value taken = lanes(mapping.lookupOrDefault(guard.getCondition()));
    if (!inThen) {
      Value yes = arith::ConstantOp::create(
          b, loc, DenseElementsAttr::get(cast<VectorType>(taken.getType()), true));
      taken = arith::XOrIOp::create(b, loc, taken, yes);
    }
    isRead = isRead ? arith::AndIOp::create(b, loc, isRead, taken).getResult() : taken;
    index = inThen ? guard.getTrueValue() : guard.getFalseValue();
  }
  Value mapped = mapping.lookupOrDefault(index);
  if (!isRead)
    return mapped;
  Location loc = index.getLoc();
  Value any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, isRead);
  return arith::SelectOp::create(b, loc, any, mapped, arith::ConstantIndexOp::create(b, loc, 0));
}

bool LaneRewriter::rewriteGuardedLookup(LookupOp op) {
  SmallVector<Value> indices =
      llvm::map_to_vector(op.getIndices(), [&](Value index) { return sharedIndex(index); });
  if (llvm::is_contained(indices, Value()))
    return false;
  Value table = mapping.lookupOrDefault(op.getTable());
  mapping.map(
      op.getResult(),
      LookupOp::create(b, op.getLoc(), op.getType(), table, indices, op.getInbounds()).getResult());
  ++scalarOps;
  return true;
}

LogicalResult LaneRewriter::rewriteInLanes(Operation *op, ValueRange operands) {
  for (Type type : op->getResultTypes())
    if (auto number = dyn_cast<FloatType>(type); number && !number.isF64() && !number.isF32())
      return refuse(op,
                    "makes a number of a type in which kernels do not compute; take f64 or f32");
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  for (Type type : op->getResultTypes())
    state.types.push_back(hasLaneForm(type) ? withLanes(type, width) : type);
  state.attributes = op->getAttrs();
  mapping.map(op->getResults(), b.create(state)->getResults());
  ++laneOps;
  return success();
}

LogicalResult LaneRewriter::rewriteOp(Operation *op) {
  if (auto yield = dyn_cast<YieldOp>(op))
    return rewriteYield(yield);
  if (isa<ImageOp>(op))
    return refuse(op, "stands inside an image; write a sum over its pixels (nb.sum)");
  if (auto loop = dyn_cast<LoopOp>(op))
    return rewriteLoop(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return rewriteFor(loop);
  if (isa<CallOpInterface>(op))
    return refuse(op, "calls a function, which takes no lanes; --inline writes its body here");
  // A read at one place of a row, of the panel of listed pixels, is the same for all lanes:
  // tables are looked up by it.
  if (isa<ScatterOp, ScatterFactorOp>(op) ||
      (isa<ReadPixelOp, NeighbourOp>(op) && dependsOnLanes(op)))
    return rewriteAccess(op);
  // Tables and grids have no lanes, whatever is added to them.
  bool addsTables = isa<AddOp>(op) && isa<TableType, HklGridType>(op->getResult(0).getType());
  if (addsTables || !dependsOnLanes(op)) {
    if (op->getNumRegions() != 0)
      return refuse(op,
                    "has a body that cannot be computed in lanes; run --nb-remove-branches first");
    b.clone(*op, mapping);
    ++scalarOps;
    return success();
  }
  if (op->getNumRegions() != 0)
    return refuse(op, "branches on a pixel; run --nb-remove-branches first");
  if (auto lookup = dyn_cast<LookupOp>(op); lookup && rewriteGuardedLookup(lookup))
    return success();
  if (isa<LookupOp>(op))
    return refuse(op, "looks a table up by pixel; tables are indexed by the dimensions of sums");
  // A formula that is written with simpler ops has lanes if its types have, whoever's op it is.
  bool elementwise = OpTrait::hasElementwiseMappableTraits(op) || isa<ExpandableOp>(op) ||
                     isa_and_nonnull<NBDialect>(op->getDialect());
  if (!elementwise || !isMemoryEffectFree(op))
    return refuse(op, isa_and_nonnull<NBDialect>(op->getDialect())
                          ? "cannot be computed in lanes"
                          : "cannot be computed in lanes; what lowers arithmetic or loops "
                            "(convert-to-llvm) belongs after --nb-outline-kernel");

  if (auto division = dyn_cast<arith::DivFOp>(op); division && multiplyByReciprocal(division))
    return success();
  return rewriteInLanes(op, llvm::map_to_vector(op->getOperands(), [&](Value operand) {
                          return lanes(mapping.lookupOrDefault(operand));
                        }));
}

LogicalResult LaneRewriter::rewriteBlock(Block &from) {
  for (Operation &op : from)
    if (failed(rewriteOp(&op)))
      return failure();
  return success();
}

ImageOp LaneRewriter::run() {
  if (image.getLanes()) {
    nb::remarkMissed(image.getLoc(), remark::RemarkOpts::name("vectorized").category(DEBUG_TYPE))
        << "the image is in lanes already";
    return image;
  }
  auto result =
      ImageOp::create(b, image.getLoc(), image.getResultTypes(), image.getCounts(), image.getRoi(),
                      image.getMask(), image.getDimensions(), b.getI64IntegerAttr(width),
                      rows > 1 ? b.getI64IntegerAttr(rows) : IntegerAttr());
  if (Attribute lit = image->getAttr(names::lit))
    result->setAttr(names::lit, lit);
  Block &from = image.getBody().front();
  imageBody = b.createBlock(&result.getBody());
  for (auto [i, iv] : llvm::enumerate(from.getArguments())) {
    bool overLanes = i == 2 || (i == 1 && rows > 1);
    Type type = overLanes ? withLanes(iv.getType(), width) : iv.getType();
    mapping.map(iv, imageBody->addArgument(type, iv.getLoc()));
  }
  if (failed(rewriteBlock(from))) {
    result.erase();
    return {};
  }
  image.replaceAllUsesWith(result);
  image.erase();
  return result;
}

ImageOp nb::vectorizeImage(ImageOp image, int64_t lanes, int64_t rows) {
  Location loc = image.getLoc();
  LaneRewriter rewriter(image, lanes, rows);
  ImageOp made = rewriter.run();
  if (rewriter.numLaneOps() + rewriter.numScalarOps() > 0)
    nb::remarkPassed(loc, remark::RemarkOpts::name("vectorized").category(DEBUG_TYPE))
        << llvm::formatv("computes {0} pixels{1} at once: {2} op(s) in lanes, {3} scalar", lanes,
                         rows > 1 ? llvm::formatv(" of {0} rows", rows).str() : "",
                         rewriter.numLaneOps(), rewriter.numScalarOps())
               .str();
  return made;
}

/// Can the lanes be of several rows? Where the row is nothing but the place of the pixel, and what
/// is read is that pixel. Rows of a list, whose pixels are read, are no neighbours.
static bool takesRows(ImageOp image) {
  ArrayRef<BlockArgument> ivs = image.getInductionVars();
  const auto isPlace = [](Operation *user) {
    return isa<DetectorCoordinateOp, arith::IndexCastOp>(user);
  };
  return llvm::any_of(ivs[1].getUsers(), isPlace) &&
         llvm::all_of(ivs[1].getUsers(), [&](Operation *user) {
           auto read = dyn_cast<ReadPixelOp>(user);
           return read ? read.getFast() == ivs[2] : isPlace(user);
         });
}

namespace {
struct VectorizePass : nb::impl::VectorizeBase<VectorizePass> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    if (width < 1 || width > 64) {
      emitError(getOperation()->getLoc())
          << "nb-vectorize: width must be between 1 and 64, but got " << width.getValue();
      return signalPassFailure();
    }
    SmallVector<ImageOp> images;
    getOperation()->walk<WalkOrder::PreOrder>([&](ImageOp image) { images.push_back(image); });
    for (ImageOp image : images) {
      // Where few pixels have light, the neighbours of one that has are mostly dark, and spots are
      // round.
      constexpr int64_t litWidth = 8, litRows = 2;
      const bool lit = image->hasAttr(names::lit);
      const int64_t lanes = lit ? std::min<int64_t>(width, litWidth) : int64_t(width);
      const int64_t rows = lit && lanes % litRows == 0 && takesRows(image) ? litRows : 1;
      LDBG() << lanes << " lanes, " << rows << " row(s), lit: " << lit;
      if (!vectorizeImage(image, lanes, rows))
        return signalPassFailure();
      ++vectorized;
    }
  }
};
} // namespace
