#include "dialect/Names.h"
#include "lib/Conversion/Arith/LoweredValues.h"
#include "lib/Conversion/Loops/ImageToLoops.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#include <tuple>
#include <utility>

#define DEBUG_TYPE "convert-nb-to-loops"

namespace mlir::nb {
#define GEN_PASS_DEF_CONVERTNBTOLOOPS
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// A sum of numbers is carried through the loops, one of tables or grids is added up in memory.
class SumLowering {
public:
  SumLowering(SumOp sum, Accumulation &sums, LitLoops &lit)
      : sum(sum), sums(sums), lit(lit), b(sum), loc(sum.getLoc()) {}
  LogicalResult run();

private:
  LogicalResult findMemory();
  LogicalResult addTerms(OpBuilder &b, ValueRange yielded, ValueRange carried,
                         SmallVector<Value> &next);

  SumOp sum;
  Accumulation &sums;
  LitLoops &lit;
  OpBuilder b;
  Location loc;
  SmallVector<Accumulator> own; ///< for tables and grids that do not go into a sum further out
  SmallVector<Value> ownResults;
};
} // namespace

LogicalResult SumLowering::findMemory() {
  for (auto [result, term] : llvm::zip(sum.getResults(), sum.getYield().getValues())) {
    if (!isMemory(result.getType()) || !sums.destinationsOf(result).empty() || result.use_empty())
      continue;
    if (!isa<FunctionOpInterface>(sum->getParentOp()))
      return sum.emitError("a sum of tables or grids in another loop may only be yielded onward to "
                           "the next sum or image");
    auto created = sums.create(sum, result.getType(), term, /*lanes=*/0);
    if (failed(created))
      return failure();
    clearTotal(b, loc, *created);
    sums.addDestination(result, *created);
    own.push_back(*created);
    ownResults.push_back(result);
  }
  return success();
}

LogicalResult SumLowering::addTerms(OpBuilder &b, ValueRange yielded, ValueRange carried,
                                    SmallVector<Value> &next) {
  for (auto [result, term] : llvm::zip(sum.getResults(), yielded)) {
    if (isMemory(result.getType())) {
      for (const Accumulator &to : SmallVector<Accumulator>(sums.destinationsOf(result)))
        if (failed(sums.add(b, loc, term, to)))
          return failure();
      continue;
    }
    for (Value scalar : scalarsOf(b, loc, term)) {
      Value before = carried[next.size()];
      next.push_back(arith::AddFOp::create(b, loc, before, scalar, arith::FastMathFlags::contract));
    }
  }
  return success();
}

/// Additions of what has been added up in memory have nothing left to do.
static void eraseAdditions(Value summand) {
  for (Operation *user : llvm::make_early_inc_range(summand.getUsers())) {
    if (!isa<AddOp>(user) || !isMemory(summand.getType()))
      continue;
    eraseAdditions(user->getResult(0));
    user->erase();
  }
}

LogicalResult SumLowering::run() {
  if (failed(findMemory()))
    return failure();
  SmallVector<Value> zeros, ivs;
  for (Type type : sum.getResultTypes())
    if (!isMemory(type))
      zeros.append(componentCount(type), zeroConstant(b, loc, elementTypeOf(type)));
  LogicalResult added = success();
  auto body = [&](OpBuilder &b, ValueRange ivs, ValueRange carried) {
    SmallVector<Value> next;
    added = addTerms(b, inlineBody(b, sum, ivs), carried, next);
    return succeeded(added) ? next : llvm::to_vector(carried);
  };
  auto results = sum->hasAttr(names::lit) ? lit.buildNest(b, loc, sum, zeros, ivs, body)
                                          : buildNest(b, loc, sum.getCounts(), zeros, ivs, body);
  if (failed(added))
    return failure();
  ArrayRef<Value> left = results;
  for (Value result : sum.getResults()) {
    Type type = result.getType();
    if (isMemory(type))
      continue;
    result.replaceAllUsesWith(fromScalars(b, loc, type, left.take_front(componentCount(type))));
    left = left.drop_front(componentCount(type));
  }
  for (auto [result, memory] : llvm::zip(ownResults, own))
    if (failed(replaceByBuffer(result, memory.total, memory.counts)))
      return failure();
  for (Value result : sum.getResults())
    eraseAdditions(result);
  sum.erase();
  return success();
}

namespace {
LogicalResult lowerFirst(FirstOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> ivs, start{zeroConstant(b, loc, conditionTypeFor(op.getResult(0).getType()))};
  for (Type type : op.getResultTypes())
    start.append(componentCount(type), zeroConstant(b, loc, elementTypeOf(type)));
  auto results = buildNest(
      b, loc, op.getCounts(), start, ivs, [&](OpBuilder &b, ValueRange ivs, ValueRange carried) {
        Value found = carried[0];
        auto yielded = inlineBody(b, op, ivs);
        SmallVector<Value> scalars;
        for (Value value : ArrayRef(yielded).drop_front())
          scalars.append(scalarsOf(b, loc, value));
        SmallVector<Value> next{Value()};
        for (auto [kept, value] : llvm::zip(carried.drop_front(), scalars)) {
          Value zero = zeroConstant(b, loc, value.getType());
          Value candidate = arith::SelectOp::create(b, loc, yielded[0], value, zero);
          next.push_back(arith::SelectOp::create(b, loc, found, kept, candidate));
        }
        next.front() = arith::OrIOp::create(b, loc, found, yielded[0]);
        return next;
      });
  ArrayRef<Value> left = ArrayRef(results).drop_front();
  for (Value result : op.getResults()) {
    int64_t n = componentCount(result.getType());
    result.replaceAllUsesWith(fromScalars(b, loc, result.getType(), left.take_front(n)));
    left = left.drop_front(n);
  }
  op.erase();
  return success();
}

/// Tables that have an entry for each pixel may read an image: at the pixel of their first three
/// dimensions, or at one place of its row that is the same for all.
LogicalResult lowerReads(TabulateOp op) {
  SmallVector<ReadPixelOp> reads;
  op.getBody().walk([&](ReadPixelOp read) { reads.push_back(read); });
  for (ReadPixelOp read : reads) {
    auto source = dyn_cast<BlockArgument>(read.getImage());
    if (!source || !isa<FunctionOpInterface>(source.getOwner()->getParentOp()))
      return read.emitError("the image that is read must be an argument of the function");
    const SmallVector<Value> at{read.getPanel(), read.getSlow(), read.getFast()};
    ArrayRef<BlockArgument> indices = op.getInductionVars();
    const bool isOwn = indices.size() >= at.size() && at[0] == indices[0] && at[1] == indices[1] &&
                       (at[2] == indices[2] || matchPattern(at[2], m_Constant()));
    if (!isOwn)
      return read.emitError("a table reads the pixel that its first three dimensions count");
    OpBuilder b(read);
    Value flat = splitArgument(source)[0];
    Value offset =
        entryOffset(b, read.getLoc(), at, ValueRange(op.getCounts()).take_front(at.size()),
                    /*components=*/1);
    read.replaceAllUsesWith(memref::LoadOp::create(b, read.getLoc(), flat, offset).getResult());
    read.erase();
  }
  return success();
}

/// Where the entries of a table are: `entry` numbers from one to the next.
struct TablePlace {
  bool isShared;
  Value buffer;
  int64_t entry, first;
};

/// Tables of reflections that are only looked up stand together, an entry of all after the other:
/// a lookup in each of a thousand tables would take as many pages of memory.
bool standsTogether(TabulateOp op, Value table) {
  return llvm::any_of(op.getDimensions().getAsRange<DimensionAttr>(),
                      [](DimensionAttr dimension) {
                        return dimension.getValue() == Dimension::reflection;
                      }) &&
         llvm::all_of(table.getUsers(), [](Operation *user) { return isa<LookupOp>(user); });
}

LogicalResult lowerTabulate(TabulateOp op) {
  if (failed(lowerReads(op)))
    return failure();
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> ivs;
  // One entry at least, which a lookup reads whose branch is not taken.
  Value entries =
      arith::MaxSIOp::create(b, loc, product(b, loc, op.getCounts()), indexConstant(b, loc, 1));
  const auto allocateEntries = [&](int64_t numbers) {
    return allocate(b, loc, arith::MulIOp::create(b, loc, entries, indexConstant(b, loc, numbers)));
  };
  SmallVector<TablePlace> places;
  int64_t together = 0;
  for (Value table : op.getTables()) {
    Type element = cast<TableType>(table.getType()).getElementType();
    if (failed(checkTableElement(op, element)))
      return failure();
    const int64_t numbers = componentCount(element);
    if (standsTogether(op, table))
      places.push_back({true, {}, 0, std::exchange(together, together + numbers)});
    else
      places.push_back({false, allocateEntries(numbers), numbers, 0});
  }
  if (together != 0) {
    Value buffer = allocateEntries(together);
    for (TablePlace &place : places)
      if (place.isShared)
        std::tie(place.buffer, place.entry) = std::pair(buffer, together);
  }
  SmallVector<Value> counts = llvm::to_vector(op.getCounts());
  const auto offsetOf = [&](OpBuilder &b, const TablePlace &place, ValueRange indices) {
    return plus(b, loc, entryOffset(b, loc, indices, counts, place.entry), place.first);
  };
  buildNest(b, loc, counts, {}, ivs, [&](OpBuilder &b, ValueRange ivs, ValueRange) {
    for (auto [entry, place] : llvm::zip(inlineBody(b, op, ivs), places))
      storeEntry(b, loc, entry, place.buffer, offsetOf(b, place, ivs));
    return SmallVector<Value>();
  });
  for (auto [table, place] : llvm::zip(op.getTables(), places)) {
    if (!place.isShared) {
      if (failed(replaceByBuffer(table, place.buffer, counts)))
        return failure();
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(table.getUsers())) {
      auto lookup = cast<LookupOp>(user);
      OpBuilder at(lookup);
      Value offset = offsetOf(at, place, lookup.getIndices());
      lookup.replaceAllUsesWith(
          loadEntry(at, lookup.getLoc(), lookup.getType(), place.buffer, offset));
      lookup.erase();
    }
  }
  op.erase();
  return success();
}

/// Function arguments that are tables: one-dimensional, looked up in their flat memref.
LogicalResult lowerArgumentLookup(LookupOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getTable());
  if (!argument)
    return op.emitError("table is neither a function argument nor an nb.tabulate");
  if (failed(checkTableElement(op, op.getType())))
    return failure();
  if (op.getIndices().size() != 1)
    return op.emitError("an argument table must have one dimension, but this one has ")
           << op.getIndices().size();
  OpBuilder b(op);
  Value offset =
      entryOffset(b, op.getLoc(), op.getIndices(), op.getIndices(), componentCount(op.getType()));
  Value buffer = splitArgument(argument)[0];
  op.replaceAllUsesWith(loadEntry(b, op.getLoc(), op.getType(), buffer, offset));
  op.erase();
  return success();
}

/// A kernel returns memory: that of its images and tables, or a few numbers stored at its
/// end.
void returnBuffers(FunctionOpInterface function) {
  for (Block &block : function.getFunctionBody()) {
    Operation *terminator = block.getTerminator();
    OpBuilder b(terminator);
    Location loc = terminator->getLoc();
    for (OpOperand &operand : terminator->getOpOperands()) {
      Type type = operand.get().getType();
      bool number = isScalarOrLanes(type) || isa<Vec3Type, Mat3Type>(type);
      if (!number || !elementTypeOf(type).isF64() || operand.get().getDefiningOp<StoredOp>())
        continue;
      Value buffer = allocate(b, loc, indexConstant(b, loc, componentCount(type)));
      storeEntry(b, loc, operand.get(), buffer, indexConstant(b, loc, 0));
      operand.set(StoredOp::create(b, loc, type, buffer));
    }
  }
}

/// A stage that nb-fuse-response could not write into an image has no loops of its own yet.
LogicalResult refuseResponse(FunctionOpInterface function) {
  WalkResult result = function.walk([](PointwiseResponse stage) {
    stage.emitError("a stage outside of an image cannot be converted: nb-fuse-response writes it "
                    "into the image that it follows, where the function computes that");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  result = function.walk([](NeighbourResponse spread) {
    spread.emitError("point spread cannot be converted, since a kernel computes each pixel by "
                     "itself: nb-split-response leaves it to the caller");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct Lowered {
  size_t loops = 0, tables = 0;
};

/// Returns what became loops.
FailureOr<Lowered> lowerFunction(FunctionOpInterface function, int64_t warp) {
  if (failed(refuseResponse(function)))
    return failure();
  bool kernel = isKernel(function);
  // Tables first, while lookups still name them.
  SmallVector<TabulateOp> tables;
  function.walk([&](TabulateOp op) { tables.push_back(op); });
  for (TabulateOp op : tables)
    if (failed(lowerTabulate(op)))
      return failure();
  SmallVector<LookupOp> lookups;
  function.walk([&](LookupOp op) {
    if (!op.getTable().getDefiningOp<SumOp>() && !op.getTable().getDefiningOp<ImageOp>())
      lookups.push_back(op);
  });
  for (LookupOp op : lookups)
    if (failed(lowerArgumentLookup(op)))
      return failure();
  // Nothing is looked up any more that a select guards.
  function.walk([](arith::SelectOp op) { op->removeAttr(names::guard); });
  // From the outside in: what a sum of tables adds up goes where the loop around it says.
  SmallVector<LoopOp> loops;
  function.walk<WalkOrder::PreOrder>([&](LoopOp loop) { loops.push_back(loop); });
  Accumulation sums;
  LitLoops lit;
  const size_t loopCount = loops.size();
  for (LoopOp loop : loops) {
    LogicalResult lowered =
        TypeSwitch<Operation *, LogicalResult>(loop)
            .Case([&](ImageOp image) { return lowerImage(image, sums, lit, warp); })
            .Case([&](SumOp sum) { return SumLowering(sum, sums, lit).run(); })
            .Case(lowerFirst)
            .Default([](Operation *op) {
              return op->emitError() << "'" << op->getName() << "' has no lowering to loops";
            });
    if (failed(lowered))
      return failure();
  }
  // Ops that scattered into memory are done.
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    bool ofMemory = op->getNumResults() == 1 && isMemory(op->getResult(0).getType());
    if (isa<ScatterOp, ScatterFactorOp, AddOp>(op) && ofMemory && op->use_empty())
      op->erase();
  });
  if (kernel)
    returnBuffers(function);
  if (loopCount || !tables.empty())
    nb::remarkPassed(
        function.getLoc(),
        remark::RemarkOpts::name("lowered").category(DEBUG_TYPE).function(function.getName()))
        << remark::add("{0} image(s) and sums and {1} table(s) became loops over memory", loopCount,
                       tables.size());
  LDBG() << function.getName() << ": " << loopCount << " loop(s), " << tables.size() << " table(s)";
  return Lowered{loopCount, tables.size()};
}

struct ConvertNBToLoopsPass : nb::impl::ConvertNBToLoopsBase<ConvertNBToLoopsPass> {
  using ConvertNBToLoopsBase::ConvertNBToLoopsBase;
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return WalkResult::skip();
      const auto lowered = lowerFunction(function, warp);
      if (failed(lowered))
        return WalkResult::interrupt();
      loops += lowered->loops;
      tables += lowered->tables;
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
