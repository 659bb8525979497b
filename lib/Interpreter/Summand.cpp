#include "lib/Interpreter/Summand.h"

#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/StructureFactor.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// An op that makes entries which the yielded sums, sums of sums, ... are made of.
static Operation *sourceOf(Value yielded) {
  for (;;) {
    if (auto sum = yielded.getDefiningOp<SumOp>())
      yielded = sum.getYield().getValues()[cast<OpResult>(yielded).getResultNumber()];
    else if (auto both = yielded.getDefiningOp<AddOp>())
      yielded = both.getLhs();
    else
      return yielded.getDefiningOp();
  }
}

static bool isInside(Operation *loop, Value value) {
  return loop->getRegion(0).isAncestor(value.getParentRegion());
}

LogicalResult Summand::planTable(Operation *loop, Operation *source, Planner &planner) {
  auto scatter = dyn_cast_or_null<ScatterOp>(source);
  if (!scatter)
    return loop->emitOpError("sums a table that no nb.scatter made, which cannot be run");
  for (Value size : scatter.getSizes()) {
    Extent extent;
    IntegerAttr known;
    if (matchPattern(size, m_Constant(&known)))
      extent.constant = known.getInt();
    else if (isInside(loop, size))
      return scatter->emitOpError("has a size that is computed inside the loop that sums it up, "
                                  "which cannot be run");
    else
      extent.slot = planner.slot(size);
    sizes.push_back(extent);
  }
  object = planner.numTables++;
  components = slotFor(cast<TableType>(scatter.getType()).getElementType(), false)->components;
  return success();
}

LogicalResult Summand::planGrid(Operation *loop, Operation *source, Planner &planner) {
  auto scatter = dyn_cast_or_null<ScatterFactorOp>(source);
  if (!scatter)
    return loop->emitOpError("sums a grid that no nb.scatter_factor made, which cannot be run");
  if (isInside(loop, scatter.getLike()))
    return scatter->emitOpError("is like a grid of the loop that sums it up, which cannot be run");
  like = planner.slot(scatter.getLike());
  object = planner.numGrids++;
  return success();
}

void Summand::planTerms(Value yielded, Planner &planner) {
  Operation *source = yielded.getDefiningOp();
  if (auto both = dyn_cast_or_null<AddOp>(source); both && (isTable || isGrid)) {
    planTerms(both.getLhs(), planner);
    planTerms(both.getRhs(), planner);
    return;
  }
  Term &term = terms.emplace_back();
  if (auto scatter = dyn_cast_or_null<ScatterOp>(source)) {
    term.entry = source;
    term.value = planner.slot(scatter.getValue());
    term.varying = term.value.varying;
    for (Value index : scatter.getIndices()) {
      term.indices.push_back(planner.slot(index));
      term.varying |= term.indices.back().varying;
    }
  } else if (auto scatter = dyn_cast_or_null<ScatterFactorOp>(source)) {
    term.entry = source;
    term.value = planner.slot(scatter.getValue());
    term.hkl = planner.slot(scatter.getHkl());
    term.varying = term.value.varying || term.hkl.varying;
  } else {
    term.value = planner.slot(yielded);
    term.varying = overPixels && (planner[yielded].dims & pixelDimensions);
  }
}

FailureOr<Summand> Summand::plan(Operation *loop, Value yielded, Value result, Dimensions dims,
                                 Planner &planner) {
  Summand summand;
  summand.isTable = isa<TableType>(result.getType());
  summand.isGrid = isa<HklGridType>(result.getType());
  summand.overPixels = isa<ImageOp>(loop) || planner.varies(dims);
  summand.components = planner.slot(yielded).components;
  Operation *source = sourceOf(yielded);
  if (summand.isTable && failed(summand.planTable(loop, source, planner)))
    return failure();
  if (summand.isGrid && failed(summand.planGrid(loop, source, planner)))
    return failure();
  summand.planTerms(yielded, planner);
  auto slot = planner.define(result, dims);
  if (failed(slot))
    return failure();
  summand.result = *slot;
  return summand;
}

int64_t Summand::size(Frame &frame) const {
  if (isGrid)
    return entriesOf(*frame.object<const nb_hkl_grid>(like));
  int64_t entries = components;
  for (const Extent &extent : sizes)
    entries *= std::max<int64_t>(extent.get(frame), 0);
  return entries;
}

double *Summand::clear(Frame &frame) const {
  auto numbers = size_t(size(frame));
  if (isTable) {
    auto &table = frame.tables[object];
    if (!table)
      table = std::make_unique<Table>();
    table->shape.clear();
    for (const Extent &extent : sizes)
      table->shape.push_back(std::max<int64_t>(extent.get(frame), 0));
    table->ownReals.assign(numbers, 0);
    table->reals = table->ownReals.data();
    frame.object<const Table>(result) = table.get();
    return table->ownReals.data();
  }
  if (isGrid) {
    auto &grid = frame.grids[object];
    if (!grid)
      grid = std::make_unique<OwnGrid>();
    grid->values.assign(numbers, 0);
    grid->grid = *frame.object<const nb_hkl_grid>(like);
    grid->grid.data = grid->values.data();
    frame.object<const nb_hkl_grid>(result) = &grid->grid;
    return grid->values.data();
  }
  return std::fill_n(frame.reals(result), numbers, 0.0) - numbers;
}

void Summand::addNumbers(Frame &frame, const Term &term, double *sum) const {
  const double *words = frame.reals(term.value);
  for (int64_t c = 0; c < components; ++c) {
    double total = 0;
    for (int64_t lane = 0, n = lanes(frame, term); lane < n; ++lane)
      total += words[c * (term.varying ? laneStride : 1) + lane];
    sum[c] += total * weight(frame, term);
  }
}

void Summand::addEntries(Frame &frame, const Term &term, double *sum) const {
  for (int64_t lane = 0, n = lanes(frame, term); lane < n; ++lane) {
    if (term.varying && frame.active && !frame.active[lane])
      continue;
    int64_t position = 0;
    for (auto [slot, extent] : llvm::zip_equal(term.indices, sizes)) {
      int64_t index = frame.integers(slot)[slot.varying ? lane : 0], size = extent.get(frame);
      if (index < 0 || index >= size)
        return frame.fail(term.entry, "'nb.scatter' op writes outside the table");
      position = position * size + index;
    }
    const double *words = frame.reals(term.value) + (term.value.varying ? lane : 0);
    for (int64_t c = 0; c < components; ++c)
      sum[position * components + c] +=
          words[c * (term.value.varying ? laneStride : 1)] * weight(frame, term);
  }
}

void Summand::addReflections(Frame &frame, const Term &term, double *sum) const {
  auto op = cast<ScatterFactorOp>(term.entry);
  const nb_hkl_grid &bounds = *frame.object<const nb_hkl_grid>(like);
  Reading reading = readingOf(op.getInterpolation(), op.getIntegral(), op.getOrder());
  AnyOperand<Vec3> at(frame.reals(term.hkl), term.hkl.varying);
  AnyOperand<double> values(frame.reals(term.value), term.value.varying);
  for (int64_t lane = 0, n = lanes(frame, term); lane < n; ++lane)
    if (!term.varying || !frame.active || frame.active[lane])
      scatter(bounds, at[lane], values[lane] * weight(frame, term), reading, sum);
}

void Summand::addDense(Frame &frame, const Term &term, double *sum) const {
  const double *values = isTable ? frame.object<const Table>(term.value)->reals
                                 : frame.object<const nb_hkl_grid>(term.value)->data;
  // Varying values were added over the pixels when they were made.
  for (int64_t i = 0, n = size(frame); i < n; ++i)
    sum[i] += values[i] * weight(frame, term);
}

void Summand::add(Frame &frame, double *sum) const {
  for (const Term &term : terms) {
    if (!isTable && !isGrid)
      addNumbers(frame, term, sum);
    else if (!term.entry)
      addDense(frame, term, sum);
    else if (isTable)
      addEntries(frame, term, sum);
    else
      addReflections(frame, term, sum);
  }
}

//===----------------------------------------------------------------------===//
// The entries have no value of their own: who adds them up reads their operands.
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult planEntry(Op op, Planner &planner) {
  return planner.define(op.getResult(), planner.dimsOf(op->getOperands()));
}

void evaluation::attachScatter(MLIRContext *context) {
  evaluateBy<ScatterOp, planEntry<ScatterOp>>(context);
  evaluateBy<ScatterFactorOp, planEntry<ScatterFactorOp>>(context);
}
