#include "lib/Transforms/Derivatives/DifferentiateResponse.h"
#include "lib/Transforms/Differentiate.h"
#include "lib/Transforms/TableSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// The adjoints of values as far as they are known, in the order in which they were first met.
class Adjoints {
public:
  /// Several for tables, grids and images outside of bodies, where nothing adds them up.
  using Parts = SmallVector<Value, 1>;

  explicit Adjoints(bool inBody) : inBody(inBody) {}

  void add(OpBuilder &builder, Value of, Value adjoint) {
    if (!adjoint)
      return;
    Parts &known = parts[of];
    const bool whole = isCollection(of.getType()) || isa<RankedTensorType>(of.getType());
    if (known.empty() || (whole && !inBody))
      known.push_back(adjoint);
    else
      known.front() = addValues(builder, of.getLoc(), known.front(), adjoint);
  }

  ArrayRef<Value> all(Value of) const {
    auto found = parts.find(of);
    return found == parts.end() ? ArrayRef<Value>() : ArrayRef<Value>(found->second);
  }
  Value one(Value of) const {
    ArrayRef<Value> known = all(of);
    return known.empty() ? Value() : known.front();
  }

  auto begin() const { return parts.begin(); }
  auto end() const { return parts.end(); }

  /// In the body of a loop, as opposed to the function itself.
  const bool inBody;

private:
  llvm::MapVector<Value, Parts> parts;
};

class Reverse {
public:
  Reverse(func::FuncOp func, Activity &activity)
      : activity(activity), builder(func.getContext(), &names), sizes(func) {}

  LogicalResult run(func::FuncOp func, ArrayRef<Value> parameters, ArrayRef<Value> cotangents,
                    SmallVectorImpl<Value> &result);
  FailureOr<Partials> partialsOf(SumOp sum);

private:
  /// Fills in the adjoints that a loop's body starts from, given its clone.
  using Seed = function_ref<void(const IRMapping &clone, ValueRange inductionVars, Adjoints &)>;

  LogicalResult visitAll(ArrayRef<Operation *> ops, Adjoints &adjoints);
  LogicalResult visit(Operation *op, Adjoints &adjoints);
  LogicalResult visitLoop(LoopOp loop, Adjoints &adjoints);
  LogicalResult visitFirst(FirstOp first, Adjoints &adjoints);
  LogicalResult visitLookup(LookupOp op, Adjoints &adjoints);
  LogicalResult visitReadPixel(ReadPixelOp op, Adjoints &adjoints);
  LogicalResult visitStage(NeighbourResponse stage, Adjoints &adjoints);
  LogicalResult visitLeaf(DifferentiableOp op, Adjoints &adjoints);
  LogicalResult sumOfAdjoints(LoopOp loop, Seed seed, Adjoints &adjoints);
  Value pixelOf(Value cotangent, ValueRange indices, Type type, Location loc);
  Value insideSum(Value collection);
  Value flatIndex(FirstOp first, ValueRange inductionVars);
  Value wholeAdjoint(Value parameter, const Adjoints &adjoints);

  Activity &activity;
  NamePrefix names{"adj_"};
  OpBuilder builder;
  TableSizes sizes;
  bool stopsAtLookups = false; ///< they are inputs, and no table has an adjoint
};

//===----------------------------------------------------------------------===//
// Straight-line code
//===----------------------------------------------------------------------===//

LogicalResult Reverse::visitAll(ArrayRef<Operation *> ops, Adjoints &adjoints) {
  for (Operation *op : llvm::reverse(ops))
    if (failed(visit(op, adjoints)))
      return failure();
  return success();
}

LogicalResult Reverse::visit(Operation *op, Adjoints &adjoints) {
  auto reached = [&](Value result) {
    return activity.isActive(result) && !adjoints.all(result).empty();
  };
  if (llvm::none_of(op->getResults(), reached))
    return success();
  if (auto first = dyn_cast<FirstOp>(op))
    return visitFirst(first, adjoints);
  if (auto loop = dyn_cast<LoopOp>(op))
    return visitLoop(loop, adjoints);
  if (auto lookup = dyn_cast<LookupOp>(op))
    return visitLookup(lookup, adjoints);
  if (auto read = dyn_cast<ReadPixelOp>(op))
    return visitReadPixel(read, adjoints);
  if (auto stage = dyn_cast<NeighbourResponse>(op))
    return visitStage(stage, adjoints);
  if (auto leaf = dyn_cast<DifferentiableOp>(op))
    return visitLeaf(leaf, adjoints);
  return reportMissingRule(op);
}

/// Tables and grids come out of sums only; outside of a body one term makes a sum of its own.
Value Reverse::insideSum(Value collection) {
  Operation *term = collection.getDefiningOp();
  Location loc = term->getLoc();
  builder.setInsertionPointAfter(term);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto dimension = DimensionAttr::get(builder.getContext(), Dimension::source);
  auto sum = SumOp::create(builder, loc, TypeRange{collection.getType()}, ValueRange{one},
                           builder.getArrayAttr({dimension}));
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&sum.getBody());
    body->addArgument(builder.getIndexType(), loc);
    term->moveBefore(body, body->end());
    YieldOp::create(builder, loc, collection);
  }
  return sum.getResult(0);
}

LogicalResult Reverse::visitLookup(LookupOp op, Adjoints &adjoints) {
  Value table = op.getTable();
  if (stopsAtLookups || !activity.isActive(table))
    return success();
  ArrayRef<Value> size = sizes.of(table);
  if (size.empty())
    return op.emitError() << "no adjoint of this table: its size is unknown, no loop over a named "
                             "dimension runs over it";
  Value entry = ScatterOp::create(builder, op.getLoc(), cast<TableType>(table.getType()),
                                  adjoints.one(op.getResult()), op.getIndices(), size);
  adjoints.add(builder, table, adjoints.inBody ? entry : insideSum(entry));
  return success();
}

/// An image that is read has one adjoint a pixel, which its reader's loop makes an image of.
LogicalResult Reverse::visitReadPixel(ReadPixelOp op, Adjoints &adjoints) {
  Value adjoint = adjoints.one(op.getResult());
  if (!adjoint.getType().isF64())
    adjoint = arith::ExtFOp::create(builder, op.getLoc(), builder.getF64Type(), adjoint);
  adjoints.add(builder, op.getImage(), adjoint);
  return success();
}

LogicalResult Reverse::visitStage(NeighbourResponse stage, Adjoints &adjoints) {
  auto add = [&](Value of, Value adjoint) { adjoints.add(builder, of, adjoint); };
  for (Value cotangent : llvm::to_vector(adjoints.all(stage->getResult(0))))
    if (failed(stageAdjoints(builder, stage, cotangent, activity, add)))
      return failure();
  return success();
}

LogicalResult Reverse::visitLeaf(DifferentiableOp op, Adjoints &adjoints) {
  Value adjoint = adjoints.one(op->getResult(0));
  for (OpOperand &operand : op->getOpOperands()) {
    if (!activity.isActive(operand.get()))
      continue;
    Value term = op.adjoint(builder, operand.getOperandNumber(), adjoint);
    if (term && isCollection(term.getType()) && !adjoints.inBody)
      term = insideSum(term);
    adjoints.add(builder, operand.get(), term);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Is the value computed, or an argument, under a region that no op holds yet?
bool isInside(Value value, Region &outer) {
  for (Region *region = value.getParentRegion(); region;) {
    if (region == &outer)
      return true;
    Operation *parent = region->getParentOp();
    region = parent ? parent->getParentRegion() : nullptr;
  }
  return false;
}

/// A sum over the loop's domain whose body repeats the loop's (nothing is stored for the way back)
/// and goes on to the adjoints of all that the body uses from outside.
LogicalResult Reverse::sumOfAdjoints(LoopOp loop, Seed seed, Adjoints &adjoints) {
  Location loc = loop->getLoc();
  Block *original = loop.getBodyBlock();
  Region region;
  Block *body = new Block;
  region.push_back(body);
  Adjoints local(/*inBody=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body);
    IRMapping clone;
    for (BlockArgument argument : original->getArguments())
      clone.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    SmallVector<Operation *> forward;
    names.enabled = false;
    for (Operation &op : original->without_terminator())
      forward.push_back(builder.clone(op, clone));
    names.enabled = true;
    for (Operation &op : original->without_terminator()) {
      op.walk([&](Operation *inner) {
        for (Value result : inner->getResults())
          activity.copy(result, clone.lookup(result));
      });
    }
    seed(clone, body->getArguments(), local);
    if (failed(visitAll(forward, local)))
      return failure();
  }

  SmallVector<Value> captured, terms;
  SmallVector<Type> types;
  for (auto [value, parts] : local) {
    if (isInside(value, region) || !activity.isActive(value))
      continue;
    captured.push_back(value);
    terms.push_back(parts.front());
    // An image that an image's body reads has an adjoint for each pixel, not their sum.
    auto read = dyn_cast<RankedTensorType>(value.getType());
    types.push_back(read && isa<ImageOp>(loop) ? read.clone(builder.getF64Type())
                                               : parts.front().getType());
  }
  if (captured.empty())
    return success();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body);
    YieldOp::create(builder, loc, terms);
  }
  // An image sums over its pixels, a table over its entries.
  Operation *sum = loop.createSum(builder, types);
  sum->getRegion(0).takeBody(region);
  for (auto [value, total] : llvm::zip(captured, sum->getResults()))
    adjoints.add(builder, value, total);
  return success();
}

/// The cotangent of one pixel, of the type that the image's body yields.
Value Reverse::pixelOf(Value cotangent, ValueRange indices, Type type, Location loc) {
  auto image = cast<RankedTensorType>(cotangent.getType());
  Value pixel = ReadPixelOp::create(builder, loc, image.getElementType(), cotangent, indices[0],
                                    indices[1], indices[2]);
  if (pixel.getType().isF64() && type.isF32())
    return arith::TruncFOp::create(builder, loc, type, pixel);
  if (pixel.getType().isF32() && type.isF64())
    return arith::ExtFOp::create(builder, loc, type, pixel);
  return pixel;
}

LogicalResult Reverse::visitLoop(LoopOp loop, Adjoints &adjoints) {
  SmallVector<SmallVector<Value>> given;
  for (Value result : loop->getResults())
    given.push_back(activity.isActive(result) ? llvm::to_vector(adjoints.all(result))
                                              : SmallVector<Value>());
  auto seed = [&](const IRMapping &clone, ValueRange inductionVars, Adjoints &local) {
    for (auto [result, yielded, parts] :
         llvm::zip(loop->getResults(), loop.getYieldedResults(), given)) {
      Value of = clone.lookupOrDefault(yielded);
      for (Value part : parts) {
        // Each term of a sum, entry of a table and pixel of an image has one adjoint: the sum's,
        // the entry's, the pixel's.
        Value adjoint = part;
        if (isa<TabulateOp>(loop))
          adjoint = LookupOp::create(builder, of.getLoc(), of.getType(), part, inductionVars);
        else if (isa<RankedTensorType>(result.getType()))
          adjoint = pixelOf(part, inductionVars, of.getType(), of.getLoc());
        local.add(builder, of, adjoint);
      }
    }
  };
  return sumOfAdjoints(loop, seed, adjoints);
}

/// The number of a combination of induction variables in loop order, counted from 1, as f64.
Value Reverse::flatIndex(FirstOp first, ValueRange inductionVars) {
  Location loc = first.getLoc();
  Value flat = inductionVars.front();
  for (auto [count, index] :
       llvm::zip(first.getCounts().drop_front(), inductionVars.drop_front())) {
    flat = arith::MulIOp::create(builder, loc, flat, count);
    flat = arith::AddIOp::create(builder, loc, flat, index);
  }
  flat = arith::AddIOp::create(builder, loc, flat, arith::ConstantIndexOp::create(builder, loc, 1));
  flat = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), flat);
  return arith::SIToFPOp::create(builder, loc, builder.getF64Type(), flat);
}

/// Only the combination that was found passes its adjoint on.
LogicalResult Reverse::visitFirst(FirstOp first, Adjoints &adjoints) {
  Location loc = first.getLoc();
  auto search = FirstOp::create(builder, loc, TypeRange{builder.getF64Type()}, first.getCounts(),
                                first.getDimensions());
  {
    OpBuilder::InsertionGuard guard(builder);
    IRMapping clone;
    first.getBody().cloneInto(&search.getBody(), clone);
    YieldOp yield = search.getYield();
    builder.setInsertionPoint(yield);
    Value here = flatIndex(search, search.getInductionVars());
    yield.getValuesMutable().assign({yield.getValues().front(), here});
  }
  Value found = search->getResult(0);
  auto seed = [&](const IRMapping &clone, ValueRange inductionVars, Adjoints &local) {
    Value here = flatIndex(first, inductionVars);
    Value isFound = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, here, found);
    for (auto [result, yielded] : llvm::zip(first->getResults(), first.getYieldedResults())) {
      Value adjoint = activity.isActive(result) ? adjoints.one(result) : Value();
      if (!adjoint)
        continue;
      Value of = clone.lookupOrDefault(yielded);
      Value zero = zeroOf(builder, loc, adjoint.getType());
      local.add(builder, of, arith::SelectOp::create(builder, loc, isFound, adjoint, zero));
    }
  };
  return sumOfAdjoints(first, seed, adjoints);
}

FailureOr<Partials> Reverse::partialsOf(SumOp sum) {
  stopsAtLookups = true;
  YieldOp yield = sum.getYield();
  Value value = yield.getValues().front();
  SmallVector<Operation *> forward;
  for (Operation &op : sum.getBodyBlock()->without_terminator())
    forward.push_back(&op);
  builder.setInsertionPoint(yield);
  Adjoints local(/*inBody=*/true);
  local.add(
      builder, value,
      arith::ConstantOp::create(builder, value.getLoc(), builder.getFloatAttr(value.getType(), 1)));
  if (failed(visitAll(forward, local)))
    return failure();
  Partials partials;
  for (auto [of, parts] : local)
    if (activity.isActive(of) &&
        (!isInside(of, sum.getBody()) || isa_and_nonnull<LookupOp>(of.getDefiningOp())))
      partials.push_back({of, parts.front()});
  return partials;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// All parts of a parameter's adjoint added up, for a table without any a table of zeros; null
/// where it is another zero or cannot be added.
Value Reverse::wholeAdjoint(Value parameter, const Adjoints &adjoints) {
  ArrayRef<Value> parts = adjoints.all(parameter);
  if (parts.size() == 1)
    return parts.front();
  ArrayRef<Value> size = sizes.of(parameter);
  auto table = dyn_cast<TableType>(parameter.getType());
  if (!table || size.empty())
    return nullptr;
  static constexpr Dimension names[] = {Dimension::source, Dimension::phi, Dimension::mosaic,
                                        Dimension::layer};
  SmallVector<Attribute> dimensions;
  for (unsigned i = 0; i < table.getRank(); ++i)
    dimensions.push_back(DimensionAttr::get(builder.getContext(), names[i]));
  Location loc = parameter.getLoc();
  auto total =
      TabulateOp::create(builder, loc, TypeRange{table}, size, builder.getArrayAttr(dimensions));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&total.getBody());
  for (unsigned i = 0; i < table.getRank(); ++i)
    body->addArgument(builder.getIndexType(), loc);
  Value sum = parts.empty() ? zeroOf(builder, loc, table.getElementType()) : Value();
  for (Value part : parts) {
    Value entry =
        LookupOp::create(builder, loc, table.getElementType(), part, body->getArguments());
    sum = sum ? addValues(builder, loc, sum, entry) : entry;
  }
  YieldOp::create(builder, loc, sum);
  return total.getResult(0);
}

LogicalResult Reverse::run(func::FuncOp func, ArrayRef<Value> parameters,
                           ArrayRef<Value> cotangents, SmallVectorImpl<Value> &result) {
  Block &body = func.getBody().front();
  Operation *terminator = body.getTerminator();
  builder.setInsertionPoint(terminator);
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    forward.push_back(&op);
  Adjoints adjoints(/*inBody=*/false);
  for (auto [value, cotangent] : llvm::zip(terminator->getOperands(), cotangents))
    adjoints.add(builder, value, cotangent);
  if (failed(visitAll(forward, adjoints)))
    return failure();
  builder.setInsertionPoint(terminator);
  for (Value parameter : parameters) {
    Value whole = wholeAdjoint(parameter, adjoints);
    if (!whole && !adjoints.all(parameter).empty())
      return func.emitError() << "no adjoint of the grid " << parameter
                              << ": it is used by several images or outside of them";
    result.push_back(whole);
  }
  return success();
}
} // namespace

LogicalResult nb::addAdjoints(func::FuncOp func, Activity &activity, ArrayRef<Value> parameters,
                              ArrayRef<Value> cotangents, SmallVectorImpl<Value> &adjoints) {
  return Reverse(func, activity).run(func, parameters, cotangents, adjoints);
}

FailureOr<Partials> nb::addPartials(SumOp sum, Activity &activity) {
  return Reverse(sum->getParentOfType<func::FuncOp>(), activity).partialsOf(sum);
}
