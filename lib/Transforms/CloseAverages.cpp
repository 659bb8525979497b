#include "dialect/CrystalShapes.h"
#include "dialect/Names.h"
#include "lib/Transforms/AverageReach.h"
#include "lib/Transforms/Invariants.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/SliceTangents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace mlir::nb {
#define GEN_PASS_DEF_CLOSEAVERAGES
#include "lib/Transforms/Passes.h.inc"
} // namespace mlir::nb

using namespace mlir;
using namespace mlir::nb;

static remark::RemarkOpts remarkNamed(StringRef name, FunctionOpInterface func) {
  return remarkOf("nb-close-averages", name, func);
}

/// The spot is linear about its brightest point, which is found by a spot that is linear about the
/// point before. Steps from the middle; after two the point moves no more. With derivatives of the
/// middle in the second step, reflections that are far from a pixel seemed to light it.
constexpr int linearizations = 2;

static Value argumentNamed(func::FuncOp func, StringRef name) {
  for (unsigned i = 0; i != func.getNumArguments(); ++i)
    if (auto own = func.getArgAttrOfType<StringAttr>(i, names::name); own && own == name)
      return func.getArgument(i);
  return {};
}

namespace {
/// Takes the draws out of one sum.
class Closer {
public:
  Closer(SumOp sum, func::FuncOp func) : sum(sum), func(func), b(sum) {}

  /// False where it cannot, saying at `where` why.
  bool decide();
  LogicalResult rewrite(const Quadrature &quadrature, Value around);

  std::string why;
  Operation *where = nullptr;
  /// For nb-cull, which finds what is lit; says in a remark why it cannot.
  void writeReach(double bound);
  size_t normals() const { return normal.size(); }
  size_t uniforms() const { return uniform.size(); }

private:
  bool refuse(Operation *op, const Twine &reason) {
    where = op;
    why = reason.str();
    return false;
  }
  bool findVariables();
  bool findFactor();
  bool isLinearIn(Value squared);
  bool hasNoProductOfTwo();

  /// Values of all deviates from values of the variables; null ones are 0.
  SmallVector<Value> deviatesAt(const SpotPoint &point, RuleBuilder &r);
  FailureOr<LinearSpot> spotAt(const SpotPoint &point, Value &hkl, RuleBuilder &r);
  Value bodyWith(Value average, Value reflection, RuleBuilder &r);

  SumOp sum;
  func::FuncOp func;
  OpBuilder b;
  SmallVector<DeviateOp> deviates;
  SmallVector<Variable> normal, uniform;
  LatticeFactorOp factor;
  MillerIndexOp index;
  SmallVector<Operation *> squares;           ///< products in which the factor is squared
  llvm::SmallSetVector<Operation *, 4> added; ///< sums of what is averaged and something else
  DenseSet<Value> averaged;                   ///< the values linear in the squared factor
  IRMapping outside;                          ///< the other dimensions
};
} // namespace

bool Closer::findVariables() {
  sum.getBody().walk([&](DeviateOp op) { deviates.push_back(op); });
  if (deviates.empty())
    return refuse(sum, "nothing in it has a distribution");
  for (DeviateOp op : deviates) {
    const bool isVector = isa<Vec3Type>(op.getType());
    auto &into = op.getDistribution() == Distribution::normal ? normal : uniform;
    for (int c = isVector ? 0 : -1; c != (isVector ? 3 : 0); ++c)
      into.push_back({op, c});
  }
  if (uniform.empty() || uniform.size() > 3)
    return refuse(sum, "there are closed forms of one to three uniform distributions, not of " +
                           Twine(uniform.size()));
  return true;
}

/// One Gaussian lattice factor, which occurs squared and nowhere else.
bool Closer::findFactor() {
  WalkResult one = sum.getBody().walk([&](LatticeFactorOp op) {
    if (factor)
      return WalkResult::interrupt();
    factor = op;
    return WalkResult::advance();
  });
  if (one.wasInterrupted())
    return refuse(sum, "it has several lattice factors");
  if (!factor)
    return refuse(sum, "there is no lattice factor in it");
  if (rowOf(factor.getShape()).profile != nanobragg::SpotProfile::Gaussian)
    return refuse(factor, "only Gaussian crystals have averages in closed form");
  index = factor.getHkl().getDefiningOp<MillerIndexOp>();
  if (!index || factor.getFraction())
    return refuse(factor, "its index is not made by nb.miller_index");
  for (Operation *user : factor->getUsers()) {
    auto product = dyn_cast<arith::MulFOp>(user);
    const bool isSquare =
        isa<IntensityOp>(user) || (product && product.getLhs() == product.getRhs());
    if (!isSquare)
      return refuse(user, "the lattice factor is used otherwise than squared");
    if (!llvm::is_contained(squares, user))
      squares.push_back(user);
  }
  return llvm::all_of(squares, [&](Operation *op) { return isLinearIn(op->getResult(0)); }) &&
         hasNoProductOfTwo();
}

/// A product of two values that are linear in the squared factor is not.
bool Closer::hasNoProductOfTwo() {
  for (Value value : averaged)
    for (Operation *user : value.getUsers())
      if (auto product = dyn_cast<arith::MulFOp>(user);
          product && averaged.contains(product.getLhs()) && averaged.contains(product.getRhs()))
        return refuse(user, "it is not linear in the squared lattice factor");
  return true;
}

/// All that follows from it is a product with it, or a sum of such a product and something else.
bool Closer::isLinearIn(Value squared) {
  SmallVector<Value> worklist{squared};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!averaged.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<arith::AddFOp>(user))
        added.insert(user);
      if (isa<arith::MulFOp, arith::AddFOp>(user)) {
        worklist.push_back(user->getResult(0));
      } else if (isa<scf::YieldOp>(user) && isa<scf::IfOp>(user->getParentOp())) {
        for (Value result : user->getParentOp()->getResults())
          worklist.push_back(result);
      } else if (!(isa<YieldOp>(user) && user->getParentOp() == sum)) {
        return refuse(user, "it is not linear in the squared lattice factor");
      }
    }
  }
  return true;
}

bool Closer::decide() {
  if (sum.getNumResults() != 1 || !sum->getResult(0).getType().isF64())
    return refuse(sum, "it is not one sum of numbers");
  if (!findVariables() || !findFactor())
    return false;
  SmallVector<Value> inputs;
  for (DeviateOp op : deviates)
    inputs.push_back(op.getResult());
  Slice slice(index.getResult(), inputs, sum);
  if (!slice.why.empty())
    return refuse(slice.where, slice.why);
  return true;
}

SmallVector<Value> Closer::deviatesAt(const SpotPoint &point, RuleBuilder &r) {
  Type f64 = b.getF64Type();
  DenseMap<Operation *, std::array<Value, 3>> parts;
  const auto take = [&](ArrayRef<Variable> variables, ArrayRef<Value> values) {
    for (auto [i, v] : llvm::enumerate(variables))
      parts[v.deviate][v.component < 0 ? 0 : size_t(v.component)] =
          values.empty() ? r.constant(f64, 0) : values[i];
  };
  take(normal, point.normals);
  take(uniform, point.uniforms);
  SmallVector<Value> values;
  for (DeviateOp op : deviates) {
    auto &[x, y, z] = parts[op];
    values.push_back(isa<Vec3Type>(op.getType()) ? r.vec(x, y, z) : x);
  }
  return values;
}

/// The Miller index at a point of what is averaged, and how it moves there.
FailureOr<LinearSpot> Closer::spotAt(const SpotPoint &point, Value &hkl, RuleBuilder &r) {
  SmallVector<Value> values = deviatesAt(point, r), inputs;
  IRMapping mapping = outside;
  DenseMap<Operation *, Value> valueOf;
  for (auto [op, value] : llvm::zip(deviates, values)) {
    // Each has a value of its own, by which its tangents are known.
    Value own = isa<Vec3Type>(op.getType())
                    ? value
                    : Value(arith::AddFOp::create(b, op.getLoc(), value,
                                                  r.constant(value.getType(), -0.0)));
    mapping.map(op.getResult(), own);
    valueOf[op] = own;
    inputs.push_back(op.getResult());
  }
  SmallVector<Slice::Seeds> seeds;
  const auto seed = [&](ArrayRef<Variable> variables) {
    for (const Variable &v : variables) {
      Value one = r.constant(b.getF64Type(), 1);
      seeds.emplace_back()[valueOf[v.deviate]] =
          v.component < 0 ? one : r.vecWith(one, unsigned(v.component));
    }
  };
  seed(normal);
  seed(uniform);
  auto found = Slice(index.getResult(), inputs, sum).evaluate(b, mapping, seeds);
  if (failed(found))
    return failure();
  hkl = found->results[0];
  LinearSpot spot;
  spot.distance = hkl;
  for (auto [k, row] : llvm::enumerate(found->tangents))
    (k < normal.size() ? spot.byNormals : spot.byUniforms)
        .push_back(row[0] ? row[0] : r.zeroLike(hkl));
  return spot;
}

/// The body at the middle of all distributions, with the average in place of the squared factor
/// and the reflection in place of the nearest; the value that it yields. Without an average, what
/// is added to it.
Value Closer::bodyWith(Value average, Value reflection, RuleBuilder &r) {
  IRMapping mapping = outside;
  for (auto [op, value] : llvm::zip(deviates, deviatesAt({}, r)))
    mapping.map(op.getResult(), value);
  for (Operation &op : *sum.getBodyBlock())
    if (!isa<DeviateOp>(op))
      b.clone(op, mapping);
  const auto copyOf = [&](Operation *op) {
    return mapping.lookup(op->getResult(0)).getDefiningOp();
  };
  const auto replace = [](Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  };
  for (Operation *op : squares) {
    Operation *copy = copyOf(op);
    RuleBuilder at(b, op->getLoc());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(copy);
    Value value = average ? average : at.constant(b.getF64Type(), 0);
    if (auto intensity = dyn_cast<IntensityOp>(copy); intensity && average) {
      Value f = intensity.getStructureFactor();
      value = at.mul(at.mul(f, f), average);
    }
    replace(copy, value);
  }
  if (average)
    for (Operation *op : added) {
      Operation *copy = copyOf(op);
      const bool first = averaged.contains(op->getOperand(0));
      if (first != averaged.contains(op->getOperand(1)))
        replace(copy, copy->getOperand(first ? 0 : 1));
    }
  if (reflection)
    for (Operation *user : index->getUsers())
      if (isa<StructureFactorOp, NearestMillerIndexOp>(user)) {
        if (isa<NearestMillerIndexOp>(user))
          copyOf(user)->getResult(0).replaceAllUsesWith(reflection);
        else
          copyOf(user)->replaceUsesOfWith(mapping.lookup(index.getResult()), reflection);
      }
  Operation *yield = &b.getInsertionBlock()->back();
  Value value = yield->getOperand(0);
  yield->erase();
  return value;
}

LogicalResult Closer::rewrite(const Quadrature &quadrature, Value around) {
  Location loc = sum.getLoc();
  RuleBuilder r(b, loc);
  SmallVector<Value> counts;
  SmallVector<Attribute> dimensions;
  Value draws;
  for (unsigned i = 0; i != sum.getCounts().size(); ++i) {
    if (sum.getDimension(i) == Dimension::draw) {
      draws = sum.getCounts()[i];
      continue;
    }
    counts.push_back(sum.getCounts()[i]);
    dimensions.push_back(sum.getDimensions()[i]);
  }
  if (counts.empty()) {
    counts.push_back(arith::ConstantIndexOp::create(b, loc, 1));
    dimensions.push_back(DimensionAttr::get(b.getContext(), Dimension::phi));
  }
  Type f64 = b.getF64Type();
  auto outer = SumOp::create(b, loc, TypeRange{f64}, counts, b.getArrayAttr(dimensions));
  Block *body = b.createBlock(&outer.getBody());
  for (unsigned i = 0; i != counts.size(); ++i)
    body->addArgument(b.getIndexType(), loc);
  for (unsigned i = 0, at = 0; i != sum.getCounts().size(); ++i)
    outside.map(sum.getInductionVars()[i], sum.getDimension(i) == Dimension::draw
                                               ? Value(arith::ConstantIndexOp::create(b, loc, 0))
                                               : Value(body->getArgument(at++)));

  // The crystal, which does not change from sample to sample.
  IRMapping mapping = outside;
  Value zero = r.constant(f64, 0);
  mapping.map(index.getResult(), r.vec(zero, zero, zero));
  auto size = Slice(factor.getResult(), index.getResult(), sum).evaluate(b, mapping, {});
  if (failed(size))
    return failure();
  auto crystal = size->results[0].getDefiningOp<LatticeFactorOp>();
  const Symmetric shape = covarianceOf(crystal, r);
  Value cells = latticeAmplitude(crystal, r);
  cells = r.mul(cells, cells);

  Value hkl;
  auto middle = spotAt({}, hkl, r);
  if (failed(middle))
    return failure();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value side = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, around, around), one);
  Value cube = arith::MulIOp::create(b, loc, arith::MulIOp::create(b, loc, side, side), side);
  auto reflections =
      SumOp::create(b, loc, TypeRange{f64}, ValueRange{cube},
                    b.getArrayAttr(DimensionAttr::get(b.getContext(), Dimension::reflection)));
  {
    OpBuilder::InsertionGuard guard(b);
    Block *term = b.createBlock(&reflections.getBody());
    Value number = term->addArgument(b.getIndexType(), loc);
    Value reflection = NeighbourOp::create(b, loc, hkl, number, around);
    LinearSpot spot = *middle;
    spot.distance = r.sub(hkl, reflection);
    SpotPoint point;
    for (int step = 0; step != linearizations; ++step) {
      point = brightestPoint(shape, spot, point, quadrature, r);
      Value there;
      auto near = spotAt(point, there, r);
      if (failed(near))
        return failure();
      spot = *near;
      spot.distance = r.sub(there, reflection);
    }
    Value average = r.mul(cells, averageOf(shape, spot, point, quadrature, r));
    YieldOp::create(b, loc, bodyWith(average, reflection, r));
  }
  crystal.erase();
  Value total = reflections.getResult(0);
  if (!added.empty())
    total = r.add(total, bodyWith({}, {}, r));
  // A term in the place of a sum over draws is divided by their number.
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), draws);
  total = r.mul(total, arith::SIToFPOp::create(b, loc, f64, number));
  YieldOp::create(b, loc, total);
  sum.getResult(0).replaceAllUsesWith(outer.getResult(0));
  sum.erase();
  return success();
}

void Closer::writeReach(double bound) {
  const AveragedSum average{sum, deviates, normal, uniform, factor, index};
  Operation *place = nullptr;
  std::string reason;
  if (!added.empty()) {
    place = added.front();
    reason = "something else is added, where no reflection has light, too";
  }
  if (place || !writeAverageReach(average, bound, place, reason))
    nb::remarkMissed(place->getLoc(), remarkNamed("no-reach", func))
        << "all reflections about the nearest are added up: " + reason;
}

/// Draws are entries of tables.
static void readDraws(func::FuncOp func) {
  func.walk([](DeviateOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(
        LookupOp::create(b, op.getLoc(), op.getTable(), op.getIndices()).getResult());
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
      nb::remarkMissed(func.getLoc(), remarkNamed("nothing", func))
          << "no sum is over draws of a distribution";
      return success();
    }
    if (func->hasAttr(names::draws)) {
      readDraws(func);
      nb::remarkMissed(func.getLoc(), remarkNamed("drawn", func)) << remark::add(
          "averages are taken by draws: the function has the attribute '{0}'", names::draws);
      return success();
    }
    for (SumOp sum : sums)
      if (failed(close(sum, func)))
        return failure();
    // Derivatives by the elements of a matrix are one matrix again.
    RewritePatternSet patterns(&getContext());
    AddOp::getCanonicalizationPatterns(patterns, &getContext());
    return applyPatternsGreedily(func, std::move(patterns));
  }

  LogicalResult close(SumOp sum, func::FuncOp func) {
    const Quadrature quadrature{
        argumentNamed(func, "average_node"), argumentNamed(func, "average_weight"),
        argumentNamed(func, "average_nodes"), argumentNamed(func, "average_exponent")};
    Value around = argumentNamed(func, "reflections_around");
    Closer closer(sum, func);
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
    if (!closer.decide())
      return refuse(closer.where, closer.why);
    Location loc = sum.getLoc();
    if (auto wanted = func->getAttrOfType<FloatAttr>(names::cull)) {
      const double tolerance = wanted.getValueAsDouble();
      closer.writeReach(tolerance > 0 ? std::log(1 / tolerance) : exactBound);
    }
    if (failed(closer.rewrite(quadrature, around)))
      return failure();
    nb::remarkPassed(loc, remarkNamed("closed", func))
        << remark::add("{0} normal distribution(s) are averaged in closed form, one uniform one by "
                       "error functions, {1} by quadrature",
                       closer.normals(), closer.uniforms() - 1);
    return success();
  }
};
} // namespace
