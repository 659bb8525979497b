#include "lib/Conversion/Arith/GridToArith.h"

#include "lib/Conversion/Arith/GridAccess.h"
#include "lib/Conversion/Arith/SingleToArith.h"
#include "lib/Conversion/Arith/Tricubic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// data[index] for an index (scalar) or i32 lanes.
Value load(Value data, Value index, Type type, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  auto lanes = dyn_cast<VectorType>(type);
  if (!lanes)
    return memref::LoadOp::create(b, loc, data, index);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto maskType = lanes.clone(b.getI1Type());
  Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, true));
  return vector::GatherOp::create(b, loc, lanes, data, ValueRange{zero}, index, all,
                                  a.constant(type, 0));
}

Value nearest(ValueRange index, const GridBounds &grid, Arithmetic &a) {
  return load(grid.data, nearestPosition(index, grid, a), index.front().getType(), a);
}

/// `count` lanes of `x` from the first-th on; a scalar or all lanes as they are.
Value someLanes(Value x, int64_t first, int64_t count, Arithmetic &a) {
  if (cast<VectorType>(x.getType()).getNumElements() == count)
    return x;
  return vector::ExtractStridedSliceOp::create(a.builder(), a.location(), x,
                                               ArrayRef<int64_t>{first}, ArrayRef<int64_t>{count},
                                               ArrayRef<int64_t>{1});
}

/// Lanes outside the grid load nothing, so that their position may be anything. Eight lanes at a
/// time, as many as a gather takes: their mask is a chain of comparisons and needs no assembling.
Value nearestOr(Value otherwise, ValueRange index, const GridBounds &grid, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  auto lanes = cast<VectorType>(otherwise.getType());
  int64_t width = lanes.getNumElements(), group = std::min<int64_t>(width, 8);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), result = otherwise;
  Value positions = flatten(index, grid, a);
  for (int64_t first = 0; first < width; first += group) {
    auto part = [&](Value x) { return someLanes(x, first, group, a); };
    Value inside;
    for (auto [x, axis] : llvm::zip(index, grid.axes)) {
      Value within =
          a.both(a.lessEqual(part(axis.low), part(x)), a.lessEqual(part(x), part(axis.high)));
      inside = inside ? a.both(inside, within) : within;
    }
    auto type = VectorType::get({group}, lanes.getElementType());
    Value values = vector::GatherOp::create(b, loc, type, grid.data, ValueRange{zero},
                                            a.toInteger(part(positions)), inside, part(otherwise));
    result = group == width ? values
                            : vector::InsertStridedSliceOp::create(b, loc, values, result,
                                                                   ArrayRef<int64_t>{first},
                                                                   ArrayRef<int64_t>{1})
                                  .getResult();
  }
  return result;
}

/// The same with indices in fixed point: bounds and positions in 32-bit integers, a grid having
/// fewer than 2^31 entries.
Value fixedPointLookup(StructureFactorOp op, Value otherwise, LoweredValues &values,
                       Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  GridParts grid = values.grid(op.getGrid());
  auto lanes = cast<VectorType>(otherwise.getType());
  Type i32 = b.getI32Type(), type = lanes.clone(i32);
  auto spread = [&](Value index) -> Value {
    Value narrow = arith::IndexCastOp::create(b, loc, i32, index);
    return vector::BroadcastOp::create(b, loc, type, narrow);
  };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  auto sub = [&](Value x, Value y) -> Value { return arith::SubIOp::create(b, loc, x, y); };
  auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  std::pair<Value, Value> bounds[] = {
      {grid.hMin, grid.hMax}, {grid.kMin, grid.kMax}, {grid.lMin, grid.lMax}};
  Value position, inside;
  for (auto [h, axis] : llvm::zip(values.components(op.getHkl()), bounds)) {
    Value low = spread(axis.first), last = sub(spread(axis.second), low);
    Value bias = add(low, a.integer(type, FixedPointIndex::upperBias));
    Value offset = sub(toFixedPoint(h, a).upper, bias);
    Value within = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, offset, last);
    inside = inside ? a.both(inside, within) : within;
    Value size = add(last, a.integer(type, 1));
    position = position ? add(mul(position, size), offset) : offset;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return vector::GatherOp::create(b, loc, lanes, grid.data, ValueRange{zero}, position, inside,
                                  otherwise);
}

Value inGrid(Interpolation interpolation, bool integral, ValueRange hkl, const GridBounds &grid,
             Arithmetic &a) {
  Value inside;
  Components nearestOne;
  if (interpolation == Interpolation::nearest)
    nearestOne = nearestIndex(hkl, integral, a);
  for (unsigned i = 0; i < 3; ++i) {
    const GridAxis &axis = grid.axes[i];
    Value within;
    if (interpolation == Interpolation::nearest) {
      // Clamping leaves it alone: shares the clamp with the lookup.
      within = a.equal(clamp(nearestOne[i], axis.low, axis.high, a), nearestOne[i]);
    } else {
      within =
          a.both(a.lessEqual(a.add(axis.low, 2), hkl[i]), a.lessEqual(hkl[i], a.sub(axis.high, 2)));
    }
    inside = inside ? a.both(inside, within) : within;
  }
  return inside;
}
} // namespace

/// Components in f64, in which every position in a grid is exact.
static Components inDouble(ValueRange hkl, Arithmetic &a) {
  return llvm::map_to_vector<9>(
      hkl, [&](Value h) { return a.convert(h, Float64Type::get(h.getContext())); });
}

Value nb::lowerInGrid(InGridOp op, LoweredValues &values, Arithmetic &a) {
  Components hkl = inDouble(values.components(op.getHkl()), a);
  GridBounds grid = openGrid(values.grid(op.getGrid()), hkl.front().getType(), a);
  return inGrid(op.getInterpolation(), op.getIntegral(), hkl, grid, a);
}

/// The interpolation at one point and its derivatives read the same neighbours: all that stand in
/// the block are computed with the first of them.
static Value tricubicTogether(StructureFactorOp op, ValueRange hkl, const GridBounds &grid,
                              LoweredValues &values, Arithmetic &a) {
  if (Value value = values.computedBefore(op))
    return value;
  SmallVector<StructureFactorOp> group{op};
  for (Operation *user : op.getHkl().getUsers()) {
    auto other = dyn_cast<StructureFactorOp>(user);
    if (other && other != op && other->getBlock() == op->getBlock() &&
        other.getInterpolation() == op.getInterpolation() && other.getGrid() == op.getGrid())
      group.push_back(other);
  }
  SmallVector<ArrayRef<int64_t>> orders;
  for (StructureFactorOp one : group)
    orders.push_back(one.getOrder());
  SmallVector<Value> results = interpolateAll(hkl, orders, grid, a);
  for (auto [one, result] : llvm::zip(group, results))
    values.setComputed(one, result);
  return results.front();
}

/// The nearest reflection's value in f64; outside the grid `fallback`, without one the value of the
/// closest reflection inside.
static Value nearestFactor(StructureFactorOp op, Value fallback, ValueRange hkl,
                           const GridBounds &grid, LoweredValues &values, Arithmetic &a) {
  bool lanes = isa<VectorType>(op.getType());
  bool narrows = op.getType() != elementTypeOf(op.getHkl().getType());
  if (fallback && lanes && narrows && !op.getIntegral())
    return fixedPointLookup(op, fallback, values, a);
  Components index = nearestIndex(hkl, op.getIntegral(), a);
  if (!fallback)
    return nearest(index, grid, a);
  if (lanes)
    return nearestOr(fallback, index, grid, a);
  Value inside = inGrid(Interpolation::nearest, /*integral=*/true, index, grid, a);
  return a.select(inside, nearest(index, grid, a), fallback);
}

Value nb::lowerStructureFactor(StructureFactorOp op, LoweredValues &values, Arithmetic &a) {
  Components hkl = inDouble(values.components(op.getHkl()), a);
  GridBounds grid = openGrid(values.grid(op.getGrid()), hkl.front().getType(), a);
  Value fallback = op.getDefaultValue();
  if (fallback)
    fallback = a.convert(fallback, Float64Type::get(op.getContext()));
  bool interpolate = op.getInterpolation() == Interpolation::tricubic;
  Value value, inside;
  if (fallback || !interpolate)
    value = nearestFactor(op, fallback, hkl, grid, values, a);
  if (interpolate) {
    if (fallback)
      inside = inGrid(Interpolation::tricubic, /*integral=*/false, hkl, grid, a);
    Value cubic = tricubicTogether(op, hkl, grid, values, a);
    value = fallback ? a.select(inside, cubic, value) : cubic;
  }
  return a.convert(value, cast<FloatType>(getElementTypeOrSelf(op.getType())));
}
