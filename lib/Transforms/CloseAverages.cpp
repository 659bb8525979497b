#include "dialect/Names.h"
#include "dialect/PassStatistics.h"
#include "lib/Transforms/Averages/DrawnSum.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/TabulateReflections.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

#include <cmath>

#define DEBUG_TYPE "nb-close-averages"

namespace mlir::nb {
#define GEN_PASS_DEF_CLOSEAVERAGES
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

/// The spot is linear about its brightest point, which is found by a spot that is linear about the
/// point before. Steps from the middle; after two the point moves no more. With derivatives of the
/// middle in the second step, reflections that are far from a pixel seemed to light it.
constexpr int linearizations = 2;

/// The average in place of the sum over draws.
static LogicalResult closeSum(DrawnSum &drawn, SumOp sum, const Quadrature &quadrature,
                              Value around) {
  OpBuilder &b = drawn.b;
  Location loc = sum.getLoc();
  RuleBuilder r(b, loc);
  auto outer = drawn.beginOuter(1);
  auto crystal = drawn.crystal(r);
  auto middle = drawn.linearAt({}, r);
  if (failed(crystal) || failed(middle))
    return failure();
  Value hkl = middle->spot.distance;
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value side = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, around, around), one);
  Value cube = arith::MulIOp::create(b, loc, arith::MulIOp::create(b, loc, side, side), side);
  auto reflections =
      SumOp::create(b, loc, TypeRange{b.getF64Type()}, ValueRange{cube},
                    b.getArrayAttr(DimensionAttr::get(b.getContext(), Dimension::reflection)));
  {
    OpBuilder::InsertionGuard guard(b);
    Block *term = b.createBlock(&reflections.getBody());
    Value number = term->addArgument(b.getIndexType(), loc);
    Value reflection = NeighbourOp::create(b, loc, hkl, number, around);
    LinearSpot spot = middle->spot;
    spot.distance = r.sub(hkl, reflection);
    SpotPoint point;
    for (int step = 0; step != linearizations; ++step) {
      point = brightestPoint(crystal->shape, spot, point, quadrature, r);
      auto near = drawn.linearAt(point, r);
      if (failed(near))
        return failure();
      spot = near->spot;
      spot.distance = r.sub(spot.distance, reflection);
    }
    Value average = r.mul(crystal->peak, averageOf(crystal->shape, spot, point, quadrature, r));
    YieldOp::create(b, loc, drawn.bodyWith(average, reflection, r));
  }
  Value total = reflections.getResult(0);
  if (!drawn.additions().empty())
    total = r.add(total, drawn.bodyWith({}, {}, r));
  YieldOp::create(b, loc, r.mul(total, drawn.draws(r)));
  sum.getResult(0).replaceAllUsesWith(outer.getResult(0));
  sum.erase();
  return success();
}

/// For nb-cull, which finds what is lit; says in a remark why it cannot.
static void writeReach(const DrawnSum &drawn, double bound, func::FuncOp func) {
  Operation *place = nullptr;
  std::string reason;
  if (!drawn.additions().empty()) {
    place = drawn.additions().front();
    reason = "something else is added, where no reflection has light, too";
  }
  if (place || !writeAverageReach(drawn.average(), bound, place, reason))
    nb::remarkMissed(place->getLoc(), remarkOf(DEBUG_TYPE, "no-reach", func))
        << "all reflections about the nearest are added up: " + reason;
}

/// Draws are entries of tables.
static void readDraws(func::FuncOp func) {
  func.walk([](DeviateOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(
        LookupOp::create(b, op.getLoc(), op.getTable(), op.getIndices(), op.getInbounds())
            .getResult());
    op.erase();
  });
}

namespace {
struct CloseAveragesPass : nb::impl::CloseAveragesBase<CloseAveragesPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> funcs;
    getOperation()->walk([&](func::FuncOp func) { funcs.push_back(func); });
    for (func::FuncOp func : funcs)
      if (failed(run(func)))
        return signalPassFailure();
  }

  LogicalResult run(func::FuncOp func) {
    SmallVector<SumOp> sums;
    func.walk([&](SumOp sum) {
      for (unsigned i = 0; i != sum.getCounts().size(); ++i)
        if (sum.getDimension(i) == Dimension::draw)
          sums.push_back(sum);
    });
    if (sums.empty()) {
      nb::remarkMissed(func.getLoc(), remarkOf(DEBUG_TYPE, "nothing", func))
          << "no sum is over draws of a distribution";
      return success();
    }
    if (func->hasAttr(names::draws)) {
      readDraws(func);
      ++drawn;
      nb::remarkMissed(func.getLoc(), remarkOf(DEBUG_TYPE, "drawn", func)) << remark::add(
          "averages are taken by draws: the function has the attribute '{0}'", names::draws);
      return success();
    }
    for (SumOp sum : sums)
      if (failed(close(sum, func)))
        return failure();
    closed += sums.size();
    // Derivatives with respect to the elements of a matrix are one matrix again.
    RewritePatternSet patterns(&getContext());
    AddOp::getCanonicalizationPatterns(patterns, &getContext());
    return applyPatternsGreedily(func, std::move(patterns));
  }

  LogicalResult close(SumOp sum, func::FuncOp func) {
    const Quadrature quadrature{
        argumentNamed(func, "average_node"), argumentNamed(func, "average_weight"),
        argumentNamed(func, "average_nodes"), argumentNamed(func, "average_exponent")};
    Value around = argumentNamed(func, "reflections_around");
    DrawnSum average(sum, func);
    const auto refuse = [&](Operation *where, const Twine &why) {
      InFlightDiagnostic error = where->emitError() << "the average has no closed form: " << why;
      error.attachNote(func.getLoc())
          << "in the function '" << func.getName() << "'; with the attribute '" << names::draws
          << "' it is taken by draws";
      return failure();
    };
    if (!quadrature.nodes || !quadrature.weights || !quadrature.count || !quadrature.exponent ||
        !around)
      return refuse(sum, "the function has no arguments 'average_node', 'average_weight', "
                         "'average_nodes', 'average_exponent' and 'reflections_around'");
    if (!average.decide())
      return refuse(average.where, average.why);
    LDBG() << "normal distributions: " << average.normals().size()
           << ", uniform ones: " << average.uniforms().size();
    Location loc = sum.getLoc();
    if (func->hasAttr(names::reflections)) {
      if (!tabulateReflections(average, sum, func, quadrature))
        return refuse(average.where, average.why);
      nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "tabulated", func))
          << remark::add("a reflection in the place of each pixel: {0} normal distribution(s), "
                         "its place and its angle in closed form",
                         average.normals().size());
      return success();
    }
    if (auto wanted = func->getAttrOfType<FloatAttr>(names::cull)) {
      const double tolerance = wanted.getValueAsDouble();
      writeReach(average, tolerance > 0 ? std::log(1 / tolerance) : exactBound, func);
    }
    if (failed(closeSum(average, sum, quadrature, around)))
      return failure();
    nb::remarkPassed(loc, remarkOf(DEBUG_TYPE, "closed", func))
        << remark::add("{0} normal distribution(s) are averaged in closed form, one uniform one by "
                       "error functions, {1} by quadrature",
                       average.normals().size(), average.uniforms().size() - 1);
    return success();
  }
};
} // namespace
