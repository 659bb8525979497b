#include "lib/Conversion/GridToArith.h"

#include "lib/Conversion/GridAccess.h"
#include "lib/Conversion/SingleToArith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
      Value within = a.both(a.lessEqual(part(axis.low), part(x)),
                            a.lessEqual(part(x), part(axis.high)));
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
Value fixedPointLookup(StructureFactorOp op, Value otherwise, Expansion &values, Arithmetic &a) {
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
    Value within =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, offset, last);
    inside = inside ? a.both(inside, within) : within;
    Value size = add(last, a.integer(type, 1));
    position = position ? add(mul(position, size), offset) : offset;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return vector::GatherOp::create(b, loc, lanes, grid.data, ValueRange{zero}, position, inside,
                                  otherwise);
}

/// Interpolates one point over h and k: four neighbours along l are one short vector, loaded by
/// `load` at a position and summed over the sixteen rows of the neighbourhood. Returns that vector;
/// l is still to be contracted.
Value sumRows(ArrayRef<Value> planes, ArrayRef<Value> rows, Value first,
              ArrayRef<Value> planeWeights, ArrayRef<Value> rowWeights,
              function_ref<Value(Value position)> load, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  auto four = VectorType::get({4}, planeWeights.front().getType());
  auto plus = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  auto spread = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(b, loc, four, scalar);
  };
  Components rowFactors = llvm::map_to_vector<9>(rowWeights, spread);
  Value sum;
  for (unsigned i = 0; i < 4; ++i) {
    Value plane = plus(planes[i], first), planeSum;
    for (unsigned j = 0; j < 4; ++j) {
      Value term = a.mul(load(plus(plane, rows[j])), rowFactors[j]);
      planeSum = planeSum ? a.add(planeSum, term) : term;
    }
    Value term = a.mul(planeSum, spread(planeWeights[i]));
    sum = sum ? a.add(sum, term) : term;
  }
  return sum;
}

/// Stack memory for `size` elements, taken once outside all loops around the insertion point.
Value scratch(int64_t size, Type element, Arithmetic &a) {
  OpBuilder &b = a.builder();
  OpBuilder::InsertionGuard guard(b);
  scf::ForOp outermost;
  for (Operation *op = b.getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(op))
      outermost = loop;
  // Inside the image's outermost loop, which a tile runs once: it becomes a kernel's entry point.
  if (outermost)
    b.setInsertionPointToStart(outermost.getBody());
  return memref::AllocaOp::create(b, a.location(), MemRefType::get({size}, element),
                                  b.getI64IntegerAttr(64));
}

/// sumRows for every lane in turn: sixteen loads of four neighbours are far cheaper than sixty-four
/// gathers. What differs from lane to lane goes through memory, where a scalar of any lane is one
/// load away; taking lanes out of registers costs several shuffles each. Returns four lanes-wide
/// vectors, one for each node along l.
Components sumRowsOfLanes(const Neighbourhood &at, VectorType lanes, const GridBounds &grid,
                          Value rowLength, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  int64_t width = lanes.getNumElements();
  Type element = lanes.getElementType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Components factors(at.weights[0]), offsets(at.planes);
  factors.append(at.weights[1]);
  offsets.append(at.rows);
  offsets.push_back(at.first);
  Value factorMemory = scratch(factors.size() * width, element, a);
  Value offsetMemory = scratch(offsets.size() * width, b.getI32Type(), a);
  Value sumMemory = scratch(4 * width, element, a);
  auto store = [&](ValueRange values, Value memory) {
    for (auto [i, value] : llvm::enumerate(values))
      vector::StoreOp::create(b, loc, value, memory, ValueRange{constant(i * width)});
  };
  store(factors, factorMemory);
  store(offsets, offsetMemory);
  // A grid with less than four values along l is never interpolated in, and must not be read.
  Value zero = a.constant(lanes, 0);
  store({zero, zero, zero, zero}, sumMemory);
  Value enough = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, rowLength, constant(4));
  Value count = arith::SelectOp::create(b, loc, enough, constant(width), constant(0));

  auto loop = scf::ForOp::create(b, loc, constant(0), count, constant(1));
  auto four = VectorType::get({4}, element);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar();
    auto loadAll = [&](int64_t number, Value memory) {
      Components values;
      for (int64_t i = 0; i < number; ++i) {
        Value at = arith::AddIOp::create(b, loc, lane, constant(i * width));
        Value value = memref::LoadOp::create(b, loc, memory, at);
        if (value.getType().isInteger())
          value = arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
        values.push_back(value);
      }
      return values;
    };
    Components f = loadAll(factors.size(), factorMemory), o = loadAll(offsets.size(), offsetMemory);
    ArrayRef<Value> weights(f), positions(o);
    auto load = [&](Value position) -> Value {
      return vector::LoadOp::create(b, loc, four, grid.data, ValueRange{position});
    };
    Value sum = sumRows(positions.take_front(4), positions.slice(4, 4), positions.back(),
                        weights.take_front(4), weights.take_back(4), load, a);
    Value to = arith::MulIOp::create(b, loc, lane, constant(4));
    vector::StoreOp::create(b, loc, sum, sumMemory, ValueRange{to});
  }

  Value block = a.constant(VectorType::get({width, 4}, element), 0);
  for (int64_t lane = 0; lane < width; ++lane) {
    Value sum = vector::LoadOp::create(b, loc, four, sumMemory, ValueRange{constant(4 * lane)});
    block = vector::InsertOp::create(b, loc, sum, block, lane);
  }
  Value transposed = vector::TransposeOp::create(b, loc, block, ArrayRef<int64_t>{1, 0});
  return llvm::map_to_vector<9>(llvm::seq<int64_t>(4), [&](int64_t k) -> Value {
    return vector::ExtractOp::create(b, loc, transposed, k);
  });
}

Value tricubic(ValueRange hkl, ArrayRef<int64_t> orders, const GridBounds &grid, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Neighbourhood at = neighbourhood(hkl, orders, grid, a);
  Value rowLength = arith::AddIOp::create(b, loc,
                                          arith::SubIOp::create(b, loc, grid.lMax, grid.lMin),
                                          arith::ConstantIndexOp::create(b, loc, 1));
  Components sums;
  if (auto lanes = dyn_cast<VectorType>(hkl.front().getType())) {
    sums = sumRowsOfLanes(at, lanes, grid, rowLength, a);
  } else {
    // All four values of a row. A grid with less is never interpolated in, but it is read: its last
    // value stands in for those that are missing. No mask, which would be a branch on a GPU.
    auto four = VectorType::get({4}, hkl.front().getType());
    Value last = arith::SubIOp::create(b, loc, rowLength, arith::ConstantIndexOp::create(b, loc, 1));
    Components steps = llvm::map_to_vector<9>(llvm::seq<int64_t>(4), [&](int64_t k) -> Value {
      return arith::MinSIOp::create(b, loc, arith::ConstantIndexOp::create(b, loc, k), last);
    });
    auto load = [&](Value position) -> Value {
      Components values = llvm::map_to_vector<9>(steps, [&](Value step) -> Value {
        Value place = arith::AddIOp::create(b, loc, position, step);
        return memref::LoadOp::create(b, loc, grid.data, place);
      });
      return vector::FromElementsOp::create(b, loc, four, values);
    };
    Value sum =
        sumRows(at.planes, at.rows, at.first, at.weights[0], at.weights[1], load, a);
    for (int64_t k = 0; k < 4; ++k)
      sums.push_back(vector::ExtractOp::create(b, loc, sum, k));
  }
  Value result;
  for (auto [sum, weight] : llvm::zip(sums, at.weights[2])) {
    Value term = a.mul(sum, weight);
    result = result ? a.add(result, term) : term;
  }
  return result;
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
      within = a.both(a.lessEqual(a.add(axis.low, 2), hkl[i]),
                      a.lessEqual(hkl[i], a.sub(axis.high, 2)));
    }
    inside = inside ? a.both(inside, within) : within;
  }
  return inside;
}
} // namespace

/// Components in f64, in which every position in a grid is exact.
static Components inDouble(ValueRange hkl, Arithmetic &a) {
  return llvm::map_to_vector<9>(hkl, [&](Value h) {
    return a.convert(h, Float64Type::get(h.getContext()));
  });
}

Value nb::expandInGrid(InGridOp op, Expansion &values, Arithmetic &a) {
  Components hkl = inDouble(values.components(op.getHkl()), a);
  GridBounds grid = openGrid(values.grid(op.getGrid()), hkl.front().getType(), a);
  return inGrid(op.getInterpolation(), op.getIntegral(), hkl, grid, a);
}

/// The structure factor in f64.
static Value structureFactor(StructureFactorOp op, Value fallback, Expansion &values,
                             Arithmetic &a) {
  Components hkl = inDouble(values.components(op.getHkl()), a);
  GridBounds grid = openGrid(values.grid(op.getGrid()), hkl.front().getType(), a);
  bool interpolate = op.getInterpolation() == Interpolation::tricubic;
  if (!fallback)
    return interpolate ? tricubic(hkl, op.getOrder(), grid, a)
                       : nearest(nearestIndex(hkl, op.getIntegral(), a), grid, a);

  Components rounded = nearestIndex(hkl, op.getIntegral(), a);
  if (!interpolate && isa<VectorType>(fallback.getType()))
    return nearestOr(fallback, rounded, grid, a);
  Value known = inGrid(Interpolation::nearest, /*integral=*/true, rounded, grid, a);
  Value value = a.select(known, nearest(rounded, grid, a), fallback);
  if (!interpolate)
    return value;
  Value inside = inGrid(Interpolation::tricubic, false, hkl, grid, a);
  return a.select(inside, tricubic(hkl, op.getOrder(), grid, a), value);
}

Value nb::expandStructureFactor(StructureFactorOp op, Expansion &values, Arithmetic &a) {
  Value fallback = op.getDefaultValue();
  if (fallback)
    fallback = a.convert(fallback, Float64Type::get(op.getContext()));
  bool fixedPoint = fallback && isa<VectorType>(op.getType()) &&
                    op.getType() != elementTypeOf(op.getHkl().getType()) &&
                    op.getInterpolation() == Interpolation::nearest && !op.getIntegral();
  Value value = fixedPoint ? fixedPointLookup(op, fallback, values, a)
                           : structureFactor(op, fallback, values, a);
  return a.convert(value, cast<FloatType>(getElementTypeOrSelf(op.getType())));
}

void nb::restoreLookupDefaults(Operation *root) {
  root->walk([](arith::SelectOp select) {
    auto inside = select.getCondition().getDefiningOp<InGridOp>();
    auto value = select.getTrueValue().getDefiningOp<StructureFactorOp>();
    if (!inside || !value || value.getDefaultValue() || !value->hasOneUse() ||
        value.getInterpolation() != Interpolation::nearest ||
        inside.getInterpolation() != Interpolation::nearest ||
        inside.getIntegral() != value.getIntegral() || inside.getGrid() != value.getGrid() ||
        inside.getHkl() != value.getHkl())
      return;
    OpBuilder b(select);
    Value known = StructureFactorOp::create(b, value.getLoc(), value.getType(),
                                            Interpolation::nearest, value.getGrid(),
                                            value.getHkl(), select.getFalseValue(),
                                            value.getIntegral());
    select.replaceAllUsesWith(known);
    select.erase();
    value.erase();
    if (inside->use_empty())
      inside.erase();
  });
}
