#include "dialect/Names.h"
#include "lib/Conversion/GPU/GPULaunch.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-gpu-to-loops"

namespace mlir::nb {
#define GEN_PASS_DEF_GPUTOLOOPS
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

/// Error unless the threads may run one after another.
static LogicalResult check(gpu::LaunchOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty())
    return launch.emitError("an asynchronous launch cannot be run on the CPU");
  if (launch.getNumWorkgroupAttributions() || !launch.getPrivateAttributions().empty() ||
      launch.getDynamicSharedMemorySize())
    return launch.emitError("a launch with memory of blocks or threads cannot be run on the CPU");
  if (launch.hasClusterSize())
    return launch.emitError("a launch of clusters cannot be run on the CPU");
  if (!launch.getBody().hasOneBlock())
    return launch.emitError("the body of the launch has branches; it must use scf");
  Operation *foreign = nullptr;
  launch.getBody().walk([&](Operation *op) {
    if (!foreign && isa<gpu::GPUDialect>(op->getDialect()) && !isa<gpu::TerminatorOp>(op))
      foreign = op;
  });
  if (foreign)
    return foreign->emitError("needs the threads of a GPU");
  return success();
}

/// Threads come one after another: an addition needs no care for others.
static void lowerAdditions(gpu::LaunchOp launch) {
  SmallVector<memref::AtomicRMWOp> additions;
  launch.walk([&](memref::AtomicRMWOp op) {
    if (op.getKind() == arith::AtomicRMWKind::addf && op.use_empty())
      additions.push_back(op);
  });
  for (memref::AtomicRMWOp op : additions) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value old = memref::LoadOp::create(b, loc, op.getMemref(), op.getIndices());
    Value sum = arith::AddFOp::create(b, loc, old, op.getValue());
    memref::StoreOp::create(b, loc, sum, op.getMemref(), op.getIndices());
    op.erase();
  }
}

/// Warps of the launch that renders a tile, whose sizes are constants.
static int64_t warpsOf(gpu::LaunchOp launch) {
  auto blocks = getConstantIntValue(launch.getGridSizeX());
  auto threads = getConstantIntValue(launch.getBlockSizeX());
  return blocks && threads ? *blocks * *threads / warpOf(launch) : 0;
}

/// The accumulators of all warps lie one after another where that of a tile is expected.
static void makeRoom(func::FuncOp accumulatorSize, int64_t count) {
  Operation *end = accumulatorSize.getBody().front().getTerminator();
  OpBuilder b(end);
  Location loc = end->getLoc();
  Value warps = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(count));
  end->setOperand(0, arith::MulIOp::create(b, loc, end->getOperand(0), warps));
}

static void lower(gpu::LaunchOp launch) {
  OpBuilder b(launch);
  Location loc = launch.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = [&](Value count) {
    auto loop = scf::ForOp::create(b, loc, zero, count, one);
    b.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  auto replace = [](gpu::KernelDim3 from, Value x, Value y, Value z) {
    from.x.replaceAllUsesWith(x);
    from.y.replaceAllUsesWith(y);
    from.z.replaceAllUsesWith(z);
  };
  replace(launch.getGridSize(), grid.x, grid.y, grid.z);
  replace(launch.getBlockSize(), block.x, block.y, block.z);
  auto nest = [&](gpu::KernelDim3 ids, gpu::KernelDim3 counts) {
    Value z = loop(counts.z), y = loop(counts.y), x = loop(counts.x);
    replace(ids, x, y, z);
  };
  nest(launch.getBlockIds(), grid);
  nest(launch.getThreadIds(), block);
  Block &body = launch.getBody().front();
  body.getTerminator()->erase();
  Block *innermost = b.getInsertionBlock();
  innermost->getOperations().splice(b.getInsertionPoint(), body.getOperations());
  launch.erase();
}

namespace {
struct GPUToLoopsPass : nb::impl::GPUToLoopsBase<GPUToLoopsPass> {
  void runOnOperation() override {
    SmallVector<gpu::LaunchOp> launches;
    llvm::MapVector<func::FuncOp, int64_t> warps; ///< by function
    getOperation().walk([&](gpu::LaunchOp launch) {
      launches.push_back(launch);
      int64_t &most = warps[launch->getParentOfType<func::FuncOp>()];
      most = std::max(most, warpsOf(launch));
    });
    if (launches.empty())
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "",
                    "nothing is launched; run --nb-to-gpu first");
    for (gpu::LaunchOp launch : launches) {
      if (failed(check(launch)))
        return signalPassFailure();
      nb::remarkPassed(launch.getLoc(), remark::RemarkOpts::name("lowered").category(DEBUG_TYPE))
          << "the launch became a loop over its blocks and one over the threads of a block";
      LDBG() << "loops for the launch at " << launch.getLoc();
      ++lowered;
      lowerAdditions(launch);
      lower(launch);
    }
    for (auto [function, count] : warps) {
      StringRef name = function.getName();
      if (!name.consume_back(names::runTile))
        continue;
      auto size = getOperation().lookupSymbol<func::FuncOp>((name + names::accumulatorSize).str());
      if (size && count == 0) {
        function.emitError("sums over pixels want memory for each warp, and how many there are is "
                           "not constant");
        return signalPassFailure();
      }
      if (size)
        makeRoom(size, count);
    }
  }
};
} // namespace
