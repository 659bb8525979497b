#include "lib/Interpreter/Summand.h"

#include "lib/Interpreter/Map.h"
#include "lib/Interpreter/StructureFactor.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// The op that makes the entries which the yielded sums, sums of sums, ... are made of.
static Operation *sourceOf(Value yielded) {
  while (auto sum = yielded.getDefiningOp<SumOp>())
    yielded = sum.getYield().getValues()[cast<OpResult>(yielded).getResultNumber()];
  return yielded.getDefiningOp();
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
  if (!entry)
    return success();
  value = planner.slot(scatter.getValue());
  varying = value.varying;
  for (Value index : scatter.getIndices()) {
    indices.push_back(planner.slot(index));
    varying |= indices.back().varying;
  }
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
  if (!entry)
    return success();
  value = planner.slot(scatter.getValue());
  hkl = planner.slot(scatter.getHkl());
  varying = value.varying || hkl.varying;
  return success();
}

FailureOr<Summand> Summand::plan(Operation *loop, Value yielded, Value result, Dimensions dims,
                                 Planner &planner) {
  Summand summand;
  summand.isTable = isa<TableType>(result.getType());
  summand.isGrid = isa<HklGridType>(result.getType());
  summand.overPixels = isa<ImageOp>(loop) || planner.varies(dims);
  summand.value = planner.slot(yielded);
  summand.components = summand.value.components;
  Dimensions valueDims = planner[yielded].dims;
  summand.varying = summand.overPixels && (valueDims & pixelDimensions);
  Operation *source = sourceOf(yielded);
  if (isa_and_nonnull<ScatterOp, ScatterFactorOp>(yielded.getDefiningOp()))
    summand.entry = source;
  if (summand.isTable && failed(summand.planTable(loop, source, planner)))
    return failure();
  if (summand.isGrid && failed(summand.planGrid(loop, source, planner)))
    return failure();
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

void Summand::addNumbers(Frame &frame, double *sum) const {
  const double *words = frame.reals(value);
  for (int64_t c = 0; c < components; ++c) {
    double total = 0;
    for (int64_t lane = 0, n = lanes(frame); lane < n; ++lane)
      total += words[c * (varying ? laneStride : 1) + lane];
    sum[c] += total * weight(frame);
  }
}

void Summand::addEntries(Frame &frame, double *sum) const {
  for (int64_t lane = 0, n = lanes(frame); lane < n; ++lane) {
    if (varying && frame.active && !frame.active[lane])
      continue;
    int64_t position = 0;
    for (auto [slot, extent] : llvm::zip_equal(indices, sizes)) {
      int64_t index = frame.integers(slot)[slot.varying ? lane : 0], size = extent.get(frame);
      if (index < 0 || index >= size)
        return frame.fail(entry, "'nb.scatter' op writes outside the table");
      position = position * size + index;
    }
    const double *words = frame.reals(value) + (value.varying ? lane : 0);
    for (int64_t c = 0; c < components; ++c)
      sum[position * components + c] +=
          words[c * (value.varying ? laneStride : 1)] * weight(frame);
  }
}

void Summand::addReflections(Frame &frame, double *sum) const {
  auto op = cast<ScatterFactorOp>(entry);
  const nb_hkl_grid &bounds = *frame.object<const nb_hkl_grid>(like);
  Reading reading = readingOf(op.getInterpolation(), op.getIntegral(), op.getOrder());
  AnyOperand<Vec3> at(frame.reals(hkl), hkl.varying);
  AnyOperand<double> values(frame.reals(value), value.varying);
  for (int64_t lane = 0, n = lanes(frame); lane < n; ++lane)
    if (!varying || !frame.active || frame.active[lane])
      scatter(bounds, at[lane], values[lane] * weight(frame), reading, sum);
}

void Summand::addDense(Frame &frame, double *sum) const {
  const double *values = isTable ? frame.object<const Table>(value)->reals
                                 : frame.object<const nb_hkl_grid>(value)->data;
  // What varies was added over the pixels when it was made.
  for (int64_t i = 0, n = size(frame); i < n; ++i)
    sum[i] += values[i] * weight(frame);
}

void Summand::add(Frame &frame, double *sum) const {
  if (!isTable && !isGrid)
    return addNumbers(frame, sum);
  if (!entry)
    return addDense(frame, sum);
  isTable ? addEntries(frame, sum) : addReflections(frame, sum);
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
