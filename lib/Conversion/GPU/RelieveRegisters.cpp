#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-relieve-registers"

namespace mlir::nb {
#define GEN_PASS_DEF_RELIEVEREGISTERS
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

static bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static bool hasLoop(Operation *op) {
  return op->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

namespace {
/// Loads what the body of one loop needs from outside where it is needed, instead of keeping it.
class Reloading {
public:
  Reloading(gpu::LaunchOp launch, scf::ForOp loop) : launch(launch), loop(loop) {}
  /// Returns at how many places.
  unsigned run() {
    IRMapping none;
    block(loop.getBody(), none);
    return reloaded;
  }

private:
  void block(Block *body, const IRMapping &before);
  void reloadUses(Operation *op, bool withRegions, IRMapping &mapping);
  bool isReloadable(Value value);
  Value reload(Value value, OpBuilder &b, IRMapping &mapping);
  Value pointer(Value captured, OpBuilder &b);

  gpu::LaunchOp launch;
  scf::ForOp loop;
  unsigned reloaded = 0;
};
} // namespace

static bool isOutside(Value value, Operation *op) {
  return !op->isAncestor(value.getParentRegion()->getParentOp());
}

/// Made of constants, of where the thread is, and of what is loaded through the kernel's pointers?
bool Reloading::isReloadable(Value value) {
  if (isOutside(value, launch))
    return isa<LLVM::LLVMPointerType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op)
    return value.getParentRegion() == &launch.getBody();
  return isa<LLVM::LoadOp, LLVM::GEPOp, LLVM::InsertValueOp, LLVM::PoisonOp, LLVM::ConstantOp,
             UnrealizedConversionCastOp, arith::ConstantOp, arith::IndexCastOp, arith::MulIOp,
             arith::AddIOp, arith::DivUIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value v) { return isReloadable(v); });
}

/// The number of the chunk is below 2^31, so that its sign is 0. Compilers do not know, and load
/// what a pixel needs for each pixel, instead of keeping all of it.
Value Reloading::pointer(Value captured, OpBuilder &b) {
  if (loop->getParentOfType<scf::ForOp>())
    return captured;
  Location loc = captured.getLoc();
  Value index = arith::IndexCastOp::create(b, loc, b.getI32Type(), loop.getInductionVar());
  Value zero = arith::ShRUIOp::create(b, loc, index,
                                      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(31)));
  zero = arith::ExtUIOp::create(b, loc, b.getI64Type(), zero);
  return LLVM::GEPOp::create(b, loc, captured.getType(), b.getI8Type(), captured,
                             ArrayRef<LLVM::GEPArg>{zero});
}

Value Reloading::reload(Value value, OpBuilder &b, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (isOutside(value, launch))
    mapping.map(value, pointer(value, b));
  else if (!op)
    return value;
  else {
    for (Value operand : op->getOperands())
      reload(operand, b, mapping);
    b.clone(*op, mapping);
  }
  return mapping.lookup(value);
}

void Reloading::reloadUses(Operation *op, bool withRegions, IRMapping &mapping) {
  OpBuilder b(op);
  auto operands = [&](Operation *user) {
    for (OpOperand &operand : user->getOpOperands()) {
      Value value = operand.get();
      Operation *definition = value.getDefiningOp();
      if (definition && !definition->hasTrait<OpTrait::ConstantLike>() && isOutside(value, loop) &&
          isReloadable(value)) {
        operand.set(reload(value, b, mapping));
        ++reloaded;
      }
    }
  };
  if (withRegions)
    op->walk(operands);
  else
    operands(op);
}

void Reloading::block(Block *body, const IRMapping &before) {
  IRMapping mapping = before;
  for (Operation &op : llvm::make_early_inc_range(*body)) {
    auto inner = dyn_cast<scf::ForOp>(op);
    const bool transparent = !inner && hasLoop(&op);
    reloadUses(&op, /*withRegions=*/inner ? isInnermost(inner) : !transparent, mapping);
    if (inner) {
      mapping = IRMapping();
    } else if (transparent) {
      for (Region &region : op.getRegions())
        for (Block &nested : region)
          block(&nested, mapping);
      mapping = IRMapping();
    }
  }
}

/// Counts in words of 32 bits: neither samples nor chunks are as many as these hold.
static void countInWords(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Type i32 = b.getI32Type();
  auto narrow = [&](OpOperand &bound) {
    bound.set(arith::IndexCastOp::create(b, loc, i32, bound.get()));
  };
  narrow(loop.getLowerBoundMutable());
  narrow(loop.getUpperBoundMutable());
  narrow(loop.getStepMutable());
  Value index = loop.getInductionVar();
  index.setType(i32);
  b.setInsertionPointToStart(loop.getBody());
  Value wide = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), index);
  index.replaceAllUsesExcept(wide, wide.getDefiningOp());
}

/// Returns how many uses load or compute anew.
static unsigned relieve(gpu::LaunchOp launch) {
  SmallVector<scf::ForOp> outer, all;
  launch.walk([&](scf::ForOp loop) {
    all.push_back(loop);
    if (!isInnermost(loop))
      outer.push_back(loop);
  });
  if (outer.empty()) {
    remarkNothing(launch.getLoc(), DEBUG_TYPE, "",
                  "there are no nested loops, so no values are kept in registers across a loop");
    return 0;
  }
  if (llvm::any_of(all,
                   [](scf::ForOp loop) { return !loop.getInductionVar().getType().isIndex(); })) {
    nb::remarkMissed(launch.getLoc(), remark::RemarkOpts::name("relieved").category(DEBUG_TYPE))
        << "left alone: the counter of a loop is not an index, as after an earlier run of this "
           "pass";
    return 0;
  }
  unsigned reloaded = 0;
  for (scf::ForOp loop : outer)
    reloaded += Reloading(launch, loop).run();
  for (scf::ForOp loop : all)
    countInWords(loop);
  nb::remarkPassed(launch.getLoc(), remark::RemarkOpts::name("relieved").category(DEBUG_TYPE))
      << remark::add("{0} use(s) load or compute anew what lay in registers across loops; {1} "
                     "loop(s) count in 32 bits",
                     reloaded, all.size());
  LDBG() << reloaded << " use(s) reload, " << all.size() << " loop(s) count in words";
  return reloaded;
}

namespace {
struct RelieveRegistersPass : nb::impl::RelieveRegistersBase<RelieveRegistersPass> {
  void runOnOperation() override {
    bool any = false;
    getOperation().walk([&](gpu::LaunchOp launch) {
      any = true;
      reloaded += relieve(launch);
    });
    if (!any)
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "",
                    "nothing is launched; run --nb-to-gpu first");
  }
};
} // namespace
