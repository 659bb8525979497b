#include "lib/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace mlir::nb {
#define GEN_PASS_DEF_NBTOGPU
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

/// Enough warps to hide latencies, few enough for the registers of a pixel.
static constexpr int64_t threadsOfBlock = 128;
/// Arguments, workspace, tile, outputs.
static constexpr unsigned pointersOfKernel = 4;
static constexpr StringRef runTileSuffix = "_run_tile";

namespace {
/// Turns the loops of one tile into a launch.
class Launcher {
public:
  explicit Launcher(func::FuncOp function) : function(function), loc(function.getLoc()) {}
  LogicalResult run();

private:
  LogicalResult findLoops();
  LogicalResult checkRow();
  Value count(OpBuilder &b, scf::ForOp loop);
  gpu::LaunchOp emitLaunch();
  void emitBody(gpu::LaunchOp launch);
  void replaceByIndex(scf::ForOp loop, Value index);
  void replaceByThread(scf::ForOp loop, Value thread);

  func::FuncOp function;
  Location loc;
  scf::ForOp panel, slow;
  SmallVector<scf::ForOp> pixels; ///< the first covers the whole row
};
} // namespace

static StringRef nameOf(scf::ForOp loop) {
  auto name = loop->getAttrOfType<StringAttr>("nb.loop");
  return name ? name.getValue() : StringRef();
}

LogicalResult Launcher::findLoops() {
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    StringRef name = nameOf(loop);
    if (name == "panel")
      panel = loop;
    else if (name == "slow")
      slow = loop;
    else if (name == "fast")
      pixels.push_back(loop);
  });
  if (!panel || !slow || pixels.empty())
    return function.emitError("has no loops over panels, rows and pixels; run --convert-nb-to-loops "
                              "and --nb-outline-kernel first");
  if (panel->getParentOp() != function || slow->getParentOp() != panel ||
      llvm::any_of(pixels, [&](scf::ForOp loop) { return loop->getParentOp() != slow; }))
    return function.emitError("the loops over panels, rows and pixels are not directly nested");
  return success();
}

LogicalResult Launcher::checkRow() {
  constexpr unsigned accumulator = 4, scratch = 5;
  if (function.getNumArguments() <= scratch || !function.getArgument(accumulator).use_empty() ||
      !function.getArgument(scratch).use_empty())
    return function.emitError("sums over pixels, as of gradients, are not made on a GPU yet");
  for (scf::ForOp loop : pixels)
    if (!matchPattern(loop.getStep(), m_One()))
      return loop.emitError("pixels are computed in lanes; leave out --nb-vectorize");
  Value columns = pixels.front().getUpperBound();
  auto isOfNest = [&](Value bound) {
    return panel.getRegion().isAncestor(bound.getParentRegion());
  };
  if (!matchPattern(pixels.front().getLowerBound(), m_Zero()) || isOfNest(columns))
    return pixels.front().emitError("the first loop over pixels does not cover the row");
  if (isOfNest(slow.getLowerBound()) || isOfNest(slow.getUpperBound()))
    return slow.emitError("the rows must not depend on the panel");
  return success();
}

Value Launcher::count(OpBuilder &b, scf::ForOp loop) {
  return arith::SubIOp::create(b, loc, loop.getUpperBound(), loop.getLowerBound());
}

gpu::LaunchOp Launcher::emitLaunch() {
  OpBuilder b(panel);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value threads = arith::ConstantIndexOp::create(b, loc, threadsOfBlock);
  Value blocks = arith::CeilDivUIOp::create(b, loc, pixels.front().getUpperBound(), threads);
  auto module = function->getParentOfType<ModuleOp>();
  StringRef name = function.getName().drop_back(runTileSuffix.size());
  // The kernel has the name of the program; its module must have one that nothing else has.
  std::string moduleName = (name + "_gpu").str();
  for (unsigned i = 0; module.lookupSymbol(moduleName); ++i)
    moduleName = (name + "_gpu_" + Twine(i)).str();
  auto launch = gpu::LaunchOp::create(
      b, loc, blocks, count(b, slow), count(b, panel), threads, one, one,
      /*dynamicSharedMemorySize=*/nullptr, /*asyncTokenType=*/nullptr, /*asyncDependencies=*/{},
      /*workgroupAttributions=*/{}, /*privateAttributions=*/{}, nullptr, nullptr, nullptr,
      FlatSymbolRefAttr::get(b.getContext(), moduleName),
      FlatSymbolRefAttr::get(b.getContext(), name));
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

/// The loop's body if the thread is one of its iterations. A thread has the same pixel in every
/// loop over the row, so that what one clears no other has written.
void Launcher::replaceByThread(scf::ForOp loop, Value thread) {
  OpBuilder b(loop);
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, thread, bound);
  };
  Value inside = compare(arith::CmpIPredicate::slt, loop.getUpperBound());
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    inside = arith::AndIOp::create(b, loc, inside,
                                   compare(arith::CmpIPredicate::sge, loop.getLowerBound()));
  auto only = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
  loop.getInductionVar().replaceAllUsesWith(thread);
  loop.getBody()->getTerminator()->erase();
  Block *then = only.thenBlock();
  then->getOperations().splice(then->begin(), loop.getBody()->getOperations());
  loop.erase();
}

void Launcher::emitBody(gpu::LaunchOp launch) {
  OpBuilder b = OpBuilder::atBlockBegin(&launch.getBody().front());
  IRMapping mapping;
  // The kernel loads and computes by itself what the loops need, so that it captures nothing but
  // pointers. What that leaves without use, outside and inside, is for the canonicalizer.
  // Named in this order, used or not, so that all kernels have the same parameters.
  for (BlockArgument argument : function.getArguments().take_front(pointersOfKernel))
    mapping.map(argument, LLVM::GEPOp::create(b, loc, argument.getType(), b.getI8Type(), argument,
                                              ArrayRef<LLVM::GEPArg>{0}));
  for (Operation &op : llvm::make_range(function.front().begin(), panel->getIterator()))
    if (&op != launch)
      b.clone(op, mapping);
  auto inner = cast<scf::ForOp>(b.clone(*panel, mapping));
  panel.erase();
  gpu::TerminatorOp::create(b, loc);

  pixels.clear();
  inner.walk([&](scf::ForOp loop) {
    if (nameOf(loop) == "slow")
      slow = loop;
    else if (nameOf(loop) == "fast")
      pixels.push_back(loop);
  });
  b.setInsertionPoint(inner);
  gpu::KernelDim3 block = launch.getBlockIds(), thread = launch.getThreadIds();
  Value width = arith::ConstantIndexOp::create(b, loc, threadsOfBlock);
  Value start = arith::MulIOp::create(b, loc, block.x, width);
  Value fast = arith::AddIOp::create(b, loc, start, thread.x);
  Value row = arith::AddIOp::create(b, loc, slow.getLowerBound(), block.y);
  Value number = arith::AddIOp::create(b, loc, inner.getLowerBound(), block.z);
  for (scf::ForOp loop : pixels)
    replaceByThread(loop, fast);
  replaceByIndex(slow, row);
  replaceByIndex(inner, number);
}

LogicalResult Launcher::run() {
  if (failed(findLoops()) || failed(checkRow()))
    return failure();
  emitBody(emitLaunch());
  return success();
}

namespace {
struct NBToGPUPass : nb::impl::NBToGPUBase<NBToGPUPass> {
  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (function.getName().ends_with(runTileSuffix) && !function.isDeclaration() &&
          failed(Launcher(function).run()))
        return signalPassFailure();
  }
};
} // namespace
