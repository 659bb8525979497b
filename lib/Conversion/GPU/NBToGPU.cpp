#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Conversion/GPU/GPULaunch.h"
#include "lib/Conversion/KernelLayout.h"
#include "lib/Conversion/Loops/EntryPoint.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-to-gpu"

namespace mlir::nb {
#define GEN_PASS_DEF_NBTOGPU
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Turns the loops of one tile into a launch, and the sum of its accumulators into another.
class Launcher {
public:
  Launcher(func::FuncOp function, int64_t threadsOfBlock, int64_t threadsOfWarp)
      : threadsOfBlock(threadsOfBlock), threadsOfWarp(threadsOfWarp),
        warpsOfBlock(threadsOfBlock / threadsOfWarp), function(function), loc(function.getLoc()),
        name(function.getName().drop_back(names::runTile.size())) {}
  LogicalResult run();

private:
  LogicalResult findLoops();
  LogicalResult checkRow();
  LogicalResult checkSums();
  std::string moduleName();
  gpu::LaunchOp emitLaunch(OpBuilder &b, Value blocks, int64_t threads, StringRef kernel);
  Value warpsAccumulator(OpBuilder &b, Value accumulators, Value arguments, gpu::LaunchOp launch);
  void emitBody(gpu::LaunchOp launch);
  void emitReduction();
  std::pair<Value, Value> emitChunks(OpBuilder &b, gpu::LaunchOp launch, const IRMapping &mapping);
  Value emitBlocks(OpBuilder &b, gpu::LaunchOp launch, const IRMapping &mapping);
  void replaceByIndex(scf::ForOp loop, Value index);
  void replaceByThread(scf::ForOp loop, Value fast);
  void replaceByWarp(scf::ForOp loop, Value fast, Value lane);
  Value accumulatorBytes(OpBuilder &b, Value arguments);

  Value index(OpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value compare(OpBuilder &b, arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  const int64_t threadsOfBlock, threadsOfWarp, warpsOfBlock;
  func::FuncOp function, sizeFunction; ///< the latter null: there are no sums
  Location loc;
  StringRef name;
  std::string module;
  scf::ForOp panel, slow;
  bool culled = false; ///< `slow` is over lit blocks, of as many pixels as a warp has threads
  SmallVector<scf::ForOp> pixels; ///< the first covers the whole row, or the block
};
} // namespace

static std::optional<Dimension> dimensionOf(scf::ForOp loop) {
  auto over = loop->getAttrOfType<DimensionAttr>(names::loop);
  return over ? std::optional(over.getValue()) : std::nullopt;
}

LogicalResult Launcher::findLoops() {
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    std::optional<Dimension> over = dimensionOf(loop);
    if (over == Dimension::panel)
      panel = loop;
    else if (over == Dimension::slow)
      slow = loop;
    else if (over == Dimension::fast)
      pixels.push_back(loop);
  });
  if (!panel || !slow || pixels.empty())
    return function.emitError("has no loops over panels, rows and pixels; run "
                              "--convert-nb-to-loops and --nb-outline-kernel first");
  culled = slow->hasAttr(names::lit);
  if (panel->getParentOp() != function || slow->getParentOp() != panel ||
      llvm::any_of(pixels, [&](scf::ForOp loop) { return loop->getParentOp() != slow; }))
    return function.emitError("the loops over panels, rows and pixels are not directly nested");
  return success();
}

LogicalResult Launcher::checkRow() {
  if (function.getNumArguments() < layout::argumentsOnDevice)
    return function.emitError("takes fewer pointers than a kernel has");
  for (scf::ForOp loop : pixels)
    if (!matchPattern(loop.getStep(), m_One()))
      return loop.emitError("pixels are computed in lanes; leave out --nb-vectorize");
  Value columns = pixels.front().getUpperBound();
  auto isOfNest = [&](Value bound) {
    return panel.getRegion().isAncestor(bound.getParentRegion());
  };
  if (!culled && (!matchPattern(pixels.front().getLowerBound(), m_Zero()) || isOfNest(columns)))
    return pixels.front().emitError("the first loop over pixels does not cover the row");
  if (isOfNest(slow.getLowerBound()) || isOfNest(slow.getUpperBound()))
    return slow.emitError("the rows must not depend on the panel");
  return success();
}

/// Is `value`, inside the loop over pixels, another one for another pixel? Only arithmetic and
/// loops that all pixels run alike are known not to be.
static bool dependsOnPixel(Value value, scf::ForOp pixels, llvm::DenseSet<Value> &known) {
  if (!pixels.getRegion().isAncestor(value.getParentRegion()) || !known.insert(value).second)
    return false;
  SmallVector<Value> from;
  if (Operation *op = value.getDefiningOp()) {
    // The lists of what is lit are never written.
    const bool pure = isMemoryEffectFree(op) || op->hasAttr(names::lit);
    if (!pure || op->getNumRegions())
      return true;
    llvm::append_range(from, op->getOperands());
  } else {
    auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
    if (!loop || loop == pixels || value != loop.getInductionVar())
      return true;
    from = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  }
  return llvm::any_of(from, [&](Value v) { return dependsOnPixel(v, pixels, known); });
}

/// All threads of a warp have to add to the same places, in loops that they run alike; but what is
/// scattered over a grid stays an atomic addition of each thread.
LogicalResult Launcher::checkSums() {
  auto module = function->getParentOfType<ModuleOp>();
  sizeFunction = module.lookupSymbol<func::FuncOp>((name + names::accumulatorSize).str());
  if (!sizeFunction)
    return success();
  bool any = false;
  WalkResult checked = function.walk([&](memref::AtomicRMWOp add) {
    any = true;
    if (add.getKind() != arith::AtomicRMWKind::addf || !pixels.back()->isAncestor(add)) {
      add.emitError("only additions by pixels can be summed on a GPU");
      return WalkResult::interrupt();
    }
    if (add->hasAttr(names::scattered))
      return WalkResult::advance();
    SmallVector<Value> same(add.getIndices());
    for (Operation *op = add->getParentOp(); op != pixels.back(); op = op->getParentOp())
      if (auto loop = dyn_cast<scf::ForOp>(op))
        llvm::append_range(same, ValueRange{loop.getLowerBound(), loop.getUpperBound()});
    llvm::DenseSet<Value> known;
    if (llvm::none_of(same, [&](Value v) { return dependsOnPixel(v, pixels.back(), known); }))
      return WalkResult::advance();
    add.emitError("where a pixel adds to depends on the pixel, and on a GPU all threads of a warp "
                  "have to add to one place");
    return WalkResult::interrupt();
  });
  if (checked.wasInterrupted())
    return failure();
  if (!any)
    return function.emitError(
        "sums over pixels are not prepared for threads; run --convert-nb-to-loops=warp=32");
  return success();
}

/// The kernels have the name of the program; their module must have one that nothing else has.
std::string Launcher::moduleName() {
  auto module = function->getParentOfType<ModuleOp>();
  std::string result = (name + "_gpu").str();
  for (unsigned i = 0; module.lookupSymbol(result); ++i)
    result = (name + "_gpu_" + Twine(i)).str();
  return result;
}

gpu::LaunchOp Launcher::emitLaunch(OpBuilder &b, Value blocks, int64_t threads, StringRef kernel) {
  Value one = index(b, 1);
  auto launch =
      gpu::LaunchOp::create(b, loc, blocks, one, one, index(b, threads), one, one,
                            /*dynamicSharedMemorySize=*/nullptr, /*asyncTokenType=*/nullptr,
                            /*asyncDependencies=*/{},
                            /*workgroupAttributions=*/{}, /*privateAttributions=*/{}, nullptr,
                            nullptr, nullptr, FlatSymbolRefAttr::get(b.getContext(), module),
                            FlatSymbolRefAttr::get(b.getContext(), kernel));
  if (threadsOfWarp != nanobragg::usualWarp)
    launch->setAttr(names::warp, b.getI64IntegerAttr(threadsOfWarp));
  return launch;
}

/// The loop's body once, ahead of it, for the iteration `index`.
void Launcher::replaceByIndex(scf::ForOp loop, Value index) {
  loop.getInductionVar().replaceAllUsesWith(index);
  Block *body = loop.getBody();
  body->getTerminator()->erase();
  loop->getBlock()->getOperations().splice(loop->getIterator(), body->getOperations());
  loop.erase();
}

/// The loop's body if `fast` is one of its iterations. A thread has the same pixel in every
/// loop over the row, so that what one clears no other has written.
void Launcher::replaceByThread(scf::ForOp loop, Value fast) {
  OpBuilder b(loop);
  Value inside = compare(b, arith::CmpIPredicate::slt, fast, loop.getUpperBound());
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    inside = arith::AndIOp::create(
        b, loc, inside, compare(b, arith::CmpIPredicate::sge, fast, loop.getLowerBound()));
  auto only = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
  loop.getInductionVar().replaceAllUsesWith(fast);
  loop.getBody()->getTerminator()->erase();
  Block *then = only.thenBlock();
  then->getOperations().splice(then->begin(), loop.getBody()->getOperations());
  loop.erase();
}

/// The loop's body if any thread of the warp has one of its pixels. Then all threads run it, since
/// they sum together: those without a pixel take the nearest one, store nothing and add 0.
void Launcher::replaceByWarp(scf::ForOp loop, Value fast, Value lane) {
  OpBuilder b(loop);
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  Value first = arith::SubIOp::create(b, loc, fast, lane);
  Value behind = arith::AddIOp::create(b, loc, first, index(b, threadsOfWarp));
  Value lower = arith::MaxSIOp::create(b, loc, first, begin);
  Value upper = arith::MinSIOp::create(b, loc, behind, end);
  Value any = compare(b, arith::CmpIPredicate::slt, lower, upper);
  auto only = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  b.setInsertionPointToStart(only.thenBlock());
  Value last = arith::SubIOp::create(b, loc, end, index(b, 1));
  Value pixel = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, fast, last), begin);
  Value own = compare(b, arith::CmpIPredicate::eq, pixel, fast);
  loop.getInductionVar().replaceAllUsesWith(pixel);
  loop.getBody()->getTerminator()->erase();
  Block *then = only.thenBlock();
  then->getOperations().splice(std::prev(then->end()), loop.getBody()->getOperations());
  loop.erase();
  SmallVector<memref::StoreOp> stores;
  only.walk([&](memref::StoreOp store) { stores.push_back(store); });
  for (memref::StoreOp store : stores) {
    b.setInsertionPoint(store);
    auto guarded = scf::IfOp::create(b, loc, own, /*withElseRegion=*/false);
    store->moveBefore(guarded.thenBlock()->getTerminator());
  }
  only.walk([&](memref::AtomicRMWOp add) {
    b.setInsertionPoint(add);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(add.getValue().getType()));
    add.getValueMutable().assign(arith::SelectOp::create(b, loc, own, add.getValue(), zero));
  });
}

/// The result of NAME_accumulator_size, computed here.
Value Launcher::accumulatorBytes(OpBuilder &b, Value arguments) {
  IRMapping mapping;
  mapping.map(sizeFunction.getArgument(0), arguments);
  Block &body = sizeFunction.getBody().front();
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// Each warp adds to an accumulator of its own.
Value Launcher::warpsAccumulator(OpBuilder &b, Value accumulators, Value arguments,
                                 gpu::LaunchOp launch) {
  Value ofBlock = arith::DivUIOp::create(b, loc, launch.getThreadIds().x, index(b, threadsOfWarp));
  Value before = arith::MulIOp::create(b, loc, launch.getBlockIds().x, index(b, warpsOfBlock));
  Value warp = arith::AddIOp::create(b, loc, before, ofBlock);
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), warp);
  Value offset = arith::MulIOp::create(b, loc, number, accumulatorBytes(b, arguments));
  return LLVM::GEPOp::create(b, loc, accumulators.getType(), b.getI8Type(), accumulators,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Chunks of a row, as long as a block is wide, dealt to the blocks in turn: the row and the pixel
/// of a thread, in a loop in which the builder is left.
std::pair<Value, Value> Launcher::emitChunks(OpBuilder &b, gpu::LaunchOp launch,
                                             const IRMapping &mapping) {
  auto mapped = [&](Value bound) { return mapping.lookupOrDefault(bound); };
  Value begin = mapped(slow.getLowerBound());
  Value rows = arith::SubIOp::create(b, loc, mapped(slow.getUpperBound()), begin);
  Value width = index(b, threadsOfBlock);
  Value padded = arith::AddIOp::create(b, loc, mapped(pixels.front().getUpperBound()),
                                       index(b, threadsOfBlock - 1));
  Value ofRow = arith::DivUIOp::create(b, loc, padded, width);
  Value count = arith::MulIOp::create(b, loc, rows, ofRow);
  auto chunks = scf::ForOp::create(b, loc, launch.getBlockIds().x, count, launch.getGridSize().x);
  gpu::TerminatorOp::create(b, loc);

  b.setInsertionPointToStart(chunks.getBody());
  Value chunk = chunks.getInductionVar();
  // Fewer than 2^31 chunks have room in any memory, and short divisions are short.
  Type i32 = b.getI32Type();
  Value shortChunk = arith::IndexCastOp::create(b, loc, i32, chunk);
  Value shortRow = arith::IndexCastOp::create(b, loc, i32, ofRow);
  auto widen = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  };
  Value down = widen(arith::DivUIOp::create(b, loc, shortChunk, shortRow));
  Value along = widen(arith::RemUIOp::create(b, loc, shortChunk, shortRow));
  Value row = arith::AddIOp::create(b, loc, begin, down);
  Value first = arith::MulIOp::create(b, loc, along, width);
  return {row, arith::AddIOp::create(b, loc, first, launch.getThreadIds().x)};
}

/// Lit blocks of pixels, dealt to the warps in turn: the number of a warp's, in a loop in which the
/// builder is left. All threads of a warp run over the same lists.
Value Launcher::emitBlocks(OpBuilder &b, gpu::LaunchOp launch, const IRMapping &mapping) {
  Value warps = index(b, warpsOfBlock);
  Value inBlock = arith::DivUIOp::create(b, loc, launch.getThreadIds().x, index(b, threadsOfWarp));
  Value before = arith::MulIOp::create(b, loc, launch.getBlockIds().x, warps);
  Value warp = arith::AddIOp::create(b, loc, before, inBlock);
  Value all = arith::MulIOp::create(b, loc, launch.getGridSize().x, warps);
  auto blocks =
      scf::ForOp::create(b, loc, warp, mapping.lookupOrDefault(slow.getUpperBound()), all);
  gpu::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(blocks.getBody());
  return blocks.getInductionVar();
}

void Launcher::emitBody(gpu::LaunchOp launch) {
  OpBuilder b = OpBuilder::atBlockBegin(&launch.getBody().front());
  IRMapping mapping;
  // The kernel loads and computes by itself what the loops need, so that it captures nothing but
  // pointers. Values that this leaves without use, outside and inside, are for the canonicalizer.
  // Named in this order, used or not, so that all kernels have the same parameters.
  for (BlockArgument argument : function.getArguments().take_front(layout::argumentsOnDevice))
    mapping.map(argument, LLVM::GEPOp::create(b, loc, argument.getType(), b.getI8Type(), argument,
                                              ArrayRef<LLVM::GEPArg>{0}));
  if (sizeFunction) {
    BlockArgument accumulators = function.getArgument(layout::accumulators);
    mapping.map(accumulators,
                warpsAccumulator(b, mapping.lookup(Value(accumulators)),
                                 mapping.lookup(Value(function.getArgument(layout::arguments))),
                                 launch));
  }
  for (Operation &op : llvm::make_range(function.front().begin(), panel->getIterator()))
    if (&op != launch)
      b.clone(op, mapping);
  Value row, fast; // the latter null: the warp has the pixels of a block
  if (culled)
    row = emitBlocks(b, launch, mapping);
  else
    std::tie(row, fast) = emitChunks(b, launch, mapping);
  Value lane = arith::RemUIOp::create(b, loc, launch.getThreadIds().x, index(b, threadsOfWarp));
  auto inner = cast<scf::ForOp>(b.clone(*panel, mapping));
  panel.erase();

  pixels.clear();
  inner.walk([&](scf::ForOp loop) {
    if (dimensionOf(loop) == Dimension::slow)
      slow = loop;
    else if (dimensionOf(loop) == Dimension::fast)
      pixels.push_back(loop);
  });
  auto pixelOf = [&](scf::ForOp loop) -> Value {
    b.setInsertionPoint(loop);
    return fast ? fast : arith::AddIOp::create(b, loc, loop.getLowerBound(), lane);
  };
  for (scf::ForOp loop : pixels)
    if (sizeFunction && loop == pixels.back())
      replaceByWarp(loop, pixelOf(loop), lane);
    else
      replaceByThread(loop, pixelOf(loop));
  replaceByIndex(slow, row);
  replaceByIndex(inner, inner.getLowerBound());
}

/// Adds up the accumulators of all warps in the first, each number by one warp, and clears the
/// others: for the next tile, and lest they be added up again.
void Launcher::emitReduction() {
  OpBuilder b(function.front().getTerminator());
  Value memory = function.getArgument(layout::accumulators);
  Value bytes = accumulatorBytes(b, function.getArgument(layout::arguments));
  Value eight = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(8));
  Value doubles = arith::DivUIOp::create(b, loc, bytes, eight);
  Value warps = arith::MulIOp::create(b, loc, index(b, blocksOnHost), index(b, warpsOfBlock));
  warps = arith::IndexCastOp::create(b, loc, b.getI64Type(), warps);
  Value blocks = arith::IndexCastOp::create(b, loc, b.getIndexType(), doubles);
  gpu::LaunchOp launch = emitLaunch(b, blocks, threadsOfWarp, (name + names::reduce).str());
  b = OpBuilder::atBlockBegin(&launch.getBody().front());
  // In this order the kernel's parameters.
  Value start = LLVM::GEPOp::create(b, loc, memory.getType(), b.getI8Type(), memory,
                                    ArrayRef<LLVM::GEPArg>{0});
  Value count = arith::IndexCastOp::create(b, loc, b.getIndexType(), warps);
  Value each = arith::IndexCastOp::create(b, loc, b.getIndexType(), doubles);
  Value zero = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0));
  Value numbers = bufferAt(b, loc, start, b.getF64Type()), number = launch.getBlockIds().x;
  auto loop = scf::ForOp::create(b, loc, launch.getThreadIds().x, count, index(b, threadsOfWarp),
                                 zero, [&](OpBuilder &b, Location, Value warp, ValueRange sum) {
                                   Value before = arith::MulIOp::create(b, loc, warp, each);
                                   Value position = arith::AddIOp::create(b, loc, before, number);
                                   Value term = memref::LoadOp::create(b, loc, numbers, position);
                                   memref::StoreOp::create(b, loc, zero, numbers, position);
                                   scf::YieldOp::create(
                                       b, loc, Value(arith::AddFOp::create(b, loc, sum[0], term)));
                                 });
  memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, loop.getResult(0), numbers,
                              number);
  gpu::TerminatorOp::create(b, loc);
}

LogicalResult Launcher::run() {
  if (failed(findLoops()) || failed(checkRow()) || failed(checkSums()))
    return failure();
  module = moduleName();
  OpBuilder b(panel);
  emitBody(emitLaunch(b, index(b, blocksOnHost), threadsOfBlock, name));
  if (sizeFunction)
    emitReduction();
  nb::remarkPassed(
      loc, remark::RemarkOpts::name("launched").category(DEBUG_TYPE).function(function.getName()))
      << remark::add(
             "up to {0} blocks of {1} threads render a tile, {2}{3}", blocksOnHost, threadsOfBlock,
             culled
                 ? "a block of lit pixels for each warp, whose threads all run over the same lists"
                 : "a pixel for each thread",
             sizeFunction
                 ? "; each warp has sums over pixels of its own, which a second launch adds up"
                 : "");
  return success();
}

namespace {
struct NBToGPUPass : nb::impl::NBToGPUBase<NBToGPUPass> {
  using NBToGPUBase::NBToGPUBase;

  void runOnOperation() override {
    if (warp <= 0 || threads <= 0 || threads > mostThreadsOfBlock || threads % warp != 0) {
      emitError(getOperation()->getLoc())
          << "nb-to-gpu: a block has whole warps of " << warp.getValue() << " threads and at most "
          << mostThreadsOfBlock << " threads, but threads is " << threads.getValue();
      return signalPassFailure();
    }
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    auto isTile = [](func::FuncOp f) { return f.getName().ends_with(names::runTile); };
    if (llvm::none_of(functions, isTile))
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "",
                    "no kernel renders a tile; run --nb-outline-kernel first");
    for (func::FuncOp function : functions)
      if (function.getName().ends_with(names::runTile) && !function.isDeclaration() &&
          function.getOps<gpu::LaunchOp>().empty()) {
        LDBG() << function.getName() << ": blocks of " << threads.getValue() << " threads";
        if (failed(Launcher(function, threads, warp).run()))
          return signalPassFailure();
        ++launched;
      }
  }
};
} // namespace
