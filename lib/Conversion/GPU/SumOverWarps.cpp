#include "dialect/Names.h"
#include "lib/Conversion/GPU/GPULaunch.h"
#include "lib/Conversion/Passes.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-sum-over-warps"

namespace mlir::nb {
#define GEN_PASS_DEF_SUMOVERWARPS
#include "lib/Conversion/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// A number that each thread adds, to memory[base + offset].
struct Term {
  Value value, memory, base; ///< base null: 0
  int64_t offset;
  bool follows(const Term &other) const {
    return other.memory == memory && other.base == base && other.offset + 1 == offset;
  }
};

/// Sums up to as many numbers as a warp has threads over them.
class WarpSum {
public:
  explicit WarpSum(gpu::LaunchOp launch);
  void add(OpBuilder &b, Location loc, ArrayRef<Term> terms);

private:
  Value exchange(OpBuilder &b, Location loc, Value value, int64_t mask);
  void store(OpBuilder &b, Location loc, ArrayRef<Term> terms, Value sum, Value number,
             int64_t first, uint64_t lanes);

  int64_t threads;
  Value lane;
  SmallVector<int64_t> masks; ///< one for each step: 16, 8, 4, 2, 1
  SmallVector<Value> bits;    ///< whether the lane has the bit of a mask
};
} // namespace

WarpSum::WarpSum(gpu::LaunchOp launch) : threads(warpOf(launch)) {
  OpBuilder b = OpBuilder::atBlockBegin(&launch.getBody().front());
  Location loc = launch.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  Value thread = arith::IndexCastOp::create(b, loc, b.getI32Type(), launch.getThreadIds().x);
  lane = arith::AndIOp::create(b, loc, thread, constant(threads - 1));
  for (int64_t mask = threads / 2; mask != 0; mask /= 2) {
    masks.push_back(mask);
    bits.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                         arith::AndIOp::create(b, loc, lane, constant(mask)),
                                         constant(0)));
  }
}

/// The partner's value. Threads exchange 32 bits at a time.
Value WarpSum::exchange(OpBuilder &b, Location loc, Value value, int64_t mask) {
  auto exchangeWord = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(b, loc, word, int32_t(mask), int32_t(threads),
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (value.getType().isF32())
    return exchangeWord(value);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value bits = arith::BitcastOp::create(b, loc, i64, value);
  Value width = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
  Value high = arith::ShRUIOp::create(b, loc, bits, width);
  Value low = exchangeWord(arith::TruncIOp::create(b, loc, i32, bits));
  high = exchangeWord(arith::TruncIOp::create(b, loc, i32, high));
  high = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, i64, high), width);
  bits = arith::OrIOp::create(b, loc, high, arith::ExtUIOp::create(b, loc, i64, low));
  return arith::BitcastOp::create(b, loc, value.getType(), bits);
}

/// The halves of what threads hold, before each step. A thread whose lane has the bit of the step
/// keeps the second half, the others the first, which is one longer if they differ.
static SmallVector<size_t> halvesOf(size_t count, size_t steps) {
  SmallVector<size_t> halves;
  for (size_t step = 0; step < steps; ++step)
    halves.push_back(count = (count + 1) / 2);
  return halves;
}

/// The least of the lanes that end with this number.
static int64_t laneOf(size_t number, ArrayRef<size_t> halves) {
  int64_t lane = 0;
  for (auto [step, half] : llvm::enumerate(halves)) {
    if (number >= half) {
      lane |= int64_t(1) << (halves.size() - 1 - step);
      number -= half;
    }
  }
  return lane;
}

/// Adds the numbers from `first` on, in the threads that have them, at neighbouring places.
void WarpSum::store(OpBuilder &b, Location loc, ArrayRef<Term> terms, Value sum, Value number,
                    int64_t first, uint64_t lanes) {
  // One bit for each thread of a warp.
  Type mask = threads > 32 ? b.getI64Type() : b.getI32Type();
  Value all = arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(mask, APInt(mask.getIntOrFloatBitWidth(), lanes)));
  Value by = threads > 32 ? arith::ExtUIOp::create(b, loc, mask, lane).getResult() : lane;
  Value shifted = arith::ShRUIOp::create(b, loc, all, by);
  Value owns = arith::TruncIOp::create(b, loc, b.getI1Type(), shifted);
  auto only = scf::IfOp::create(b, loc, owns, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(only.thenBlock());
  const Term &term = terms.front();
  Value place = arith::ConstantIndexOp::create(b, loc, term.offset - first);
  place = arith::AddIOp::create(b, loc, number, place);
  if (term.base)
    place = arith::AddIOp::create(b, loc, term.base, place);
  Value old = memref::LoadOp::create(b, loc, term.memory, place);
  Value total = arith::AddFOp::create(b, loc, old, sum);
  memref::StoreOp::create(b, loc, total, term.memory, place);
}

void WarpSum::add(OpBuilder &b, Location loc, ArrayRef<Term> terms) {
  SmallVector<size_t> halves = halvesOf(terms.size(), masks.size());
  SmallVector<Value> held = llvm::map_to_vector(terms, [](const Term &t) { return t.value; });
  Value number = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [half, mask, bit] : llvm::zip(halves, masks, bits)) {
    SmallVector<Value> next;
    for (size_t i = 0; i < half; ++i) {
      Value kept = held[i], given = held[i];
      if (i + half < held.size()) {
        kept = arith::SelectOp::create(b, loc, bit, held[i + half], held[i]);
        given = arith::SelectOp::create(b, loc, bit, held[i], held[i + half]);
      }
      next.push_back(arith::AddFOp::create(b, loc, kept, exchange(b, loc, given, mask)));
    }
    if (held.size() > 1) {
      Value far = arith::ConstantIndexOp::create(b, loc, half);
      Value near = arith::ConstantIndexOp::create(b, loc, 0);
      number =
          arith::AddIOp::create(b, loc, number, arith::SelectOp::create(b, loc, bit, far, near));
    }
    held = next;
  }
  // Runs of neighbouring places are one access of several threads.
  for (size_t first = 0; first < terms.size();) {
    uint64_t lanes = 0;
    size_t end = first;
    do
      lanes |= uint64_t(1) << laneOf(end++, halves);
    while (end < terms.size() && terms[end].follows(terms[end - 1]));
    store(b, loc, terms.slice(first, end - first), held.front(), number, first, lanes);
    first = end;
  }
}

static Term termOf(memref::AtomicRMWOp op) {
  Term term{op.getValue(), op.getMemref(), op.getIndices().front(), 0};
  if (auto sum = term.base.getDefiningOp<arith::AddIOp>()) {
    IntegerAttr constant;
    if (matchPattern(sum.getRhs(), m_Constant(&constant))) {
      term.offset = constant.getInt();
      term.base = sum.getLhs();
    }
  }
  IntegerAttr constant;
  if (matchPattern(term.base, m_Constant(&constant))) {
    term.offset += constant.getInt();
    term.base = {};
  }
  return term;
}

/// The terms in the order of their places; those for one place are added up.
static SmallVector<Term> arrange(OpBuilder &b, ArrayRef<memref::AtomicRMWOp> additions) {
  llvm::MapVector<std::pair<Value, Value>, SmallVector<Term>> byPlace;
  for (memref::AtomicRMWOp op : additions) {
    Term term = termOf(op);
    SmallVector<Term> &near = byPlace[{term.memory, term.base}];
    auto same = llvm::find_if(near, [&](const Term &t) { return t.offset == term.offset; });
    if (same == near.end())
      near.push_back(term);
    else
      same->value = arith::AddFOp::create(b, op.getLoc(), same->value, term.value);
  }
  SmallVector<Term> all;
  for (auto &[place, near] : byPlace) {
    llvm::sort(near, [](const Term &x, const Term &y) { return x.offset < y.offset; });
    llvm::append_range(all, near);
  }
  return all;
}

struct Additions {
  size_t ofThreads = 0, ofWarps = 0;
};

/// Returns those before and after.
static FailureOr<Additions> sumOverWarps(gpu::LaunchOp launch) {
  llvm::MapVector<Block *, SmallVector<memref::AtomicRMWOp>> additions;
  WalkResult checked = launch.walk([&](memref::AtomicRMWOp op) {
    if (op->hasAttr(names::scattered))
      return WalkResult::advance();
    if (op.getKind() != arith::AtomicRMWKind::addf || !op.use_empty() ||
        op.getIndices().size() != 1) {
      op.emitError("only additions to memory of one dimension whose old value is never read can be "
                   "summed over a warp");
      return WalkResult::interrupt();
    }
    additions[op->getBlock()].push_back(op);
    return WalkResult::advance();
  });
  if (checked.wasInterrupted())
    return failure();
  if (additions.empty()) {
    remarkNothing(launch.getLoc(), DEBUG_TYPE, "", "no thread adds to memory of its warp");
    return Additions();
  }
  WarpSum warp(launch);
  size_t before = 0, after = 0;
  for (auto &[block, ops] : additions) {
    OpBuilder b(ops.back());
    SmallVector<Term> terms = arrange(b, ops);
    for (ArrayRef<Term> left = terms; !left.empty();) {
      ArrayRef<Term> some = left.take_front(warpOf(launch));
      warp.add(b, ops.back().getLoc(), some);
      before += some.size();
      ++after;
      left = left.drop_front(some.size());
    }
    for (memref::AtomicRMWOp op : ops)
      op.erase();
  }
  nb::remarkPassed(launch.getLoc(), remark::RemarkOpts::name("summed").category(DEBUG_TYPE))
      << remark::add("{0} addition(s) of each thread to memory became {1} of each warp, which has "
                     "{2} threads",
                     before, after, warpOf(launch));
  LDBG() << before << " addition(s) became " << after;
  return Additions{before, after};
}

namespace {
struct SumOverWarpsPass : nb::impl::SumOverWarpsBase<SumOverWarpsPass> {
  void runOnOperation() override {
    bool any = false;
    WalkResult summed = getOperation().walk([&](gpu::LaunchOp launch) {
      any = true;
      const auto additions = sumOverWarps(launch);
      if (failed(additions))
        return WalkResult::interrupt();
      ofThreads += additions->ofThreads;
      ofWarps += additions->ofWarps;
      return WalkResult::advance();
    });
    if (summed.wasInterrupted())
      signalPassFailure();
    else if (!any)
      remarkNothing(getOperation().getLoc(), DEBUG_TYPE, "",
                    "nothing is launched; run --nb-to-gpu first");
  }
};
} // namespace
