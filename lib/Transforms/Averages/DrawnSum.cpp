#include "lib/Transforms/Averages/DrawnSum.h"

#include "dialect/CrystalShapes.h"
#include "dialect/Names.h"
#include "lib/Transforms/Derivatives/SliceTangents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

using namespace mlir;
using namespace mlir::nb;

Value nb::argumentNamed(func::FuncOp func, StringRef name) {
  for (unsigned i = 0; i != func.getNumArguments(); ++i)
    if (auto own = func.getArgAttrOfType<StringAttr>(i, names::name); own && own == name)
      return func.getArgument(i);
  return {};
}

bool DrawnSum::findVariables() {
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
bool DrawnSum::findFactor() {
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
bool DrawnSum::hasNoProductOfTwo() {
  for (Value value : averaged)
    for (Operation *user : value.getUsers())
      if (auto product = dyn_cast<arith::MulFOp>(user);
          product && averaged.contains(product.getLhs()) && averaged.contains(product.getRhs()))
        return refuse(user, "it is not linear in the squared lattice factor");
  return true;
}

/// All that follows from it is a product with it, or a sum of such a product and something else.
bool DrawnSum::isLinearIn(Value squared) {
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

bool DrawnSum::decide() {
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

SmallVector<Value> DrawnSum::deviatesAt(const SpotPoint &point, RuleBuilder &r) {
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

SumOp DrawnSum::beginOuter(unsigned results) {
  Location loc = sum.getLoc();
  SmallVector<Value> counts;
  SmallVector<Attribute> dimensions;
  for (unsigned i = 0; i != sum.getCounts().size(); ++i)
    if (sum.getDimension(i) != Dimension::draw) {
      counts.push_back(sum.getCounts()[i]);
      dimensions.push_back(sum.getDimensions()[i]);
    }
  if (counts.empty()) {
    counts.push_back(arith::ConstantIndexOp::create(b, loc, 1));
    dimensions.push_back(DimensionAttr::get(b.getContext(), Dimension::phi));
  }
  auto outer = SumOp::create(b, loc, SmallVector<Type>(results, b.getF64Type()), counts,
                             b.getArrayAttr(dimensions));
  Block *body = b.createBlock(&outer.getBody());
  for (unsigned i = 0; i != counts.size(); ++i)
    body->addArgument(b.getIndexType(), loc);
  for (unsigned i = 0, at = 0; i != sum.getCounts().size(); ++i)
    outside.map(sum.getInductionVars()[i], sum.getDimension(i) == Dimension::draw
                                               ? Value(arith::ConstantIndexOp::create(b, loc, 0))
                                               : Value(body->getArgument(at++)));
  return outer;
}

FailureOr<DrawnSum::Crystal> DrawnSum::crystal(RuleBuilder &r) {
  IRMapping mapping = outside;
  Value zero = r.constant(b.getF64Type(), 0);
  mapping.map(index.getResult(), r.vec(zero, zero, zero));
  auto size = Slice(factor.getResult(), index.getResult(), sum).evaluate(b, mapping, {});
  if (failed(size))
    return failure();
  auto copy = size->results[0].getDefiningOp<LatticeFactorOp>();
  const Symmetric shape = covarianceOf(copy, r);
  Value cells = latticeAmplitude(copy, r);
  copy.erase();
  return Crystal{shape, r.mul(cells, cells)};
}

Value DrawnSum::draws(RuleBuilder &r) {
  for (unsigned i = 0; i != sum.getCounts().size(); ++i)
    if (sum.getDimension(i) == Dimension::draw) {
      Value number =
          arith::IndexCastOp::create(b, sum.getLoc(), b.getI64Type(), sum.getCounts()[i]);
      return arith::SIToFPOp::create(b, sum.getLoc(), b.getF64Type(), number);
    }
  llvm_unreachable("a sum over draws");
}

FailureOr<Value> DrawnSum::indexAt(const SpotPoint &point, RuleBuilder &r) {
  IRMapping mapping = outside;
  SmallVector<Value> inputs;
  for (auto [op, value] : llvm::zip(deviates, deviatesAt(point, r))) {
    mapping.map(op.getResult(), value);
    inputs.push_back(op.getResult());
  }
  auto found = Slice(index.getResult(), inputs, sum).evaluate(b, mapping, {});
  return failed(found) ? FailureOr<Value>(failure()) : found->results[0];
}

FailureOr<DrawnSum::Linear> DrawnSum::linearAt(const SpotPoint &point, RuleBuilder &r,
                                               Value other) {
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
  SmallVector<Value> results{index.getResult()};
  if (other)
    results.push_back(other);
  auto found = Slice(results, inputs, sum).evaluate(b, mapping, seeds);
  if (failed(found))
    return failure();
  Linear linear;
  linear.spot.distance = found->results[0];
  for (auto [k, row] : llvm::enumerate(found->tangents))
    (k < normal.size() ? linear.spot.byNormals : linear.spot.byUniforms)
        .push_back(row[0] ? row[0] : r.zeroLike(found->results[0]));
  if (other) {
    linear.other = found->results[1];
    for (const auto &row : ArrayRef(found->tangents).take_front(normal.size()))
      linear.otherByNormals.push_back(row[1]);
  }
  return linear;
}

Value DrawnSum::valueWith(Value value, RuleBuilder &r, ArrayRef<std::pair<Value, Value>> instead) {
  IRMapping mapping = outside;
  for (auto [from, to] : instead)
    mapping.map(from, to);
  for (auto [op, at] : llvm::zip(deviates, deviatesAt({}, r)))
    mapping.map(op.getResult(), at);
  const std::function<void(Value)> clone = [&](Value needed) {
    Operation *op = needed.getDefiningOp();
    if (mapping.contains(needed) || !op || !sum->isProperAncestor(op))
      return;
    for (Value operand : op->getOperands())
      clone(operand);
    b.clone(*op, mapping);
  };
  clone(value);
  return mapping.lookupOrDefault(value);
}

Value DrawnSum::bodyWith(Value average, Value reflection, RuleBuilder &r,
                         ArrayRef<std::pair<Value, Value>> instead) {
  IRMapping mapping = outside;
  for (auto [value, other] : instead)
    mapping.map(value, other);
  for (auto [op, value] : llvm::zip(deviates, deviatesAt({}, r)))
    mapping.map(op.getResult(), value);
  for (Operation &op : *sum.getBodyBlock())
    if (op.getNumResults() != 1 || !mapping.contains(op.getResult(0)))
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
