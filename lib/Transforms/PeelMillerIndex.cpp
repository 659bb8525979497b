#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "dialect/NB.h"

#include "dialect/PassStatistics.h"
#include "dialect/Remarks.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "nb-peel-miller-index"

namespace mlir::nb {
#define GEN_PASS_DEF_PEELMILLERINDEX
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Lets the lookup take the peeled reflection instead of rounding again.
template <typename GridOp>
bool takeIntegral(GridOp op, Value nearest) {
  if (!op || op.getInterpolation() != Interpolation::nearest || op.getIntegral())
    return false;
  op.getHklMutable().assign(nearest);
  op.setIntegral(true);
  return true;
}

/// A factor in f32 of an index in f64 takes the fraction itself, in fixed point.
bool takesFraction(LatticeFactorOp factor) {
  return !factor.getFraction() && factor.getType() == elementTypeOf(factor.getHkl().getType());
}

} // namespace

bool nb::canPeel(Value hkl) {
  return llvm::any_of(hkl.getUsers(), [&](Operation *user) {
    auto factor = dyn_cast<LatticeFactorOp>(user);
    return factor && factor.getHkl() == hkl && takesFraction(factor);
  });
}

/// Splits `hkl` right after its definition and rewrites the ops that can use a part of it.
void nb::peelMillerIndex(Value hkl, FunctionOpInterface func) {
  OpBuilder builder(func.getContext());
  builder.setInsertionPointAfterValue(hkl);
  SmallVector<Operation *> users = llvm::to_vector(hkl.getUsers());
  Value nearest = NearestMillerIndexOp::create(builder, hkl.getLoc(), hkl);
  Value fraction = SubOp::create(builder, hkl.getLoc(), hkl, nearest);
  LDBG() << "peels " << hkl;
  size_t factors = 0, lookups = 0;
  for (Operation *user : users) {
    if (auto factor = dyn_cast<LatticeFactorOp>(user); factor && takesFraction(factor)) {
      factor.getHklMutable().assign(fraction);
      factor.setFraction(true);
      ++factors;
    } else if (takeIntegral(dyn_cast<StructureFactorOp>(user), nearest) ||
               takeIntegral(dyn_cast<InGridOp>(user), nearest)) {
      ++lookups;
    }
  }
  nb::remarkPassed(hkl.getLoc(), remarkOf(DEBUG_TYPE, "peeled", func))
      << remark::add("peeled a Miller index: {0} lattice factor(s) take its fraction, {1} "
                     "lookup(s) its reflection",
                     factors, lookups);
}

namespace {
/// Returns how many indices were peeled.
size_t peelAll(FunctionOpInterface func) {
  // By value: several lattice factors of one index share one peel.
  llvm::SetVector<Value> indices;
  func.walk([&](LatticeFactorOp factor) {
    if (takesFraction(factor))
      indices.insert(factor.getHkl());
  });
  for (Value hkl : indices)
    peelMillerIndex(hkl, func);

  func.walk([&](StructureFactorOp lookup) {
    if (lookup.getInterpolation() == Interpolation::nearest && !lookup.getIntegral())
      nb::remarkMissed(lookup.getLoc(), remarkOf(DEBUG_TYPE, "no-lattice-factor", func))
          << "this lookup rounds its index itself: no lattice factor takes the same index";
  });
  return indices.size();
}

struct PeelMillerIndexPass : nb::impl::PeelMillerIndexBase<PeelMillerIndexPass> {
  void runOnOperation() override {
    getOperation()->walk([&](FunctionOpInterface func) { peeled += peelAll(func); });
  }
};
} // namespace
