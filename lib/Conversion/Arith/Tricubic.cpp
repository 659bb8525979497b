#include "lib/Conversion/Arith/Tricubic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Position of `x` in the list, to which it is appended where it is missing.
template <typename T>
unsigned placeIn(SmallVectorImpl<T> &list, T x) {
  auto found = llvm::find(list, x);
  if (found != list.end())
    return found - list.begin();
  list.push_back(x);
  return list.size() - 1;
}

/// The sums over h and k that derivatives of some orders consist of: one for each pair of orders
/// along h and k.
struct RowSums {
  explicit RowSums(ArrayRef<ArrayRef<int64_t>> orders) {
    for (ArrayRef<int64_t> order : orders)
      ofOrder.push_back(placeIn(pairs, {placeIn(h, order[0]), placeIn(k, order[1])}));
  }

  SmallVector<int64_t> h, k;                        ///< orders along h and along k
  SmallVector<std::pair<unsigned, unsigned>> pairs; ///< places in these two lists
  SmallVector<unsigned> ofOrder;                    ///< place in the list of pairs
};

/// Four weights for each order in a list, one order after another.
Components weightsOf(Value fraction, ArrayRef<int64_t> orders, Arithmetic &a) {
  Components weights;
  for (int64_t order : orders)
    weights.append(lagrangeWeights(fraction, order, a));
  return weights;
}

/// Interpolates one point over h and k: four neighbours along l are one short vector, loaded by
/// `load` at a position and summed over the sixteen rows of the neighbourhood. Returns such a
/// vector for each pair of orders; l is still to be contracted.
Components sumRows(const RowSums &sums, ArrayRef<Value> planes, ArrayRef<Value> rows, Value first,
                   ArrayRef<Value> planeWeights, ArrayRef<Value> rowWeights,
                   function_ref<Value(Value position)> load, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  auto four = VectorType::get({4}, planeWeights.front().getType());
  auto plus = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
  auto spread = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(b, loc, four, scalar);
  };
  auto addTerm = [&](Value &sum, Value x, Value weight) {
    Value term = a.mul(x, weight);
    sum = sum ? a.add(sum, term) : term;
  };
  Components rowFactors = llvm::map_to_vector<9>(rowWeights, spread);
  Components planeFactors = llvm::map_to_vector<9>(planeWeights, spread);
  Components result(sums.pairs.size());
  for (unsigned i = 0; i < 4; ++i) {
    Value plane = plus(planes[i], first);
    Components planeSums(sums.k.size());
    for (unsigned j = 0; j < 4; ++j) {
      Value row = load(plus(plane, rows[j]));
      for (auto [order, sum] : llvm::enumerate(planeSums))
        addTerm(sum, row, rowFactors[4 * order + j]);
    }
    for (auto [pair, sum] : llvm::zip(sums.pairs, result))
      addTerm(sum, planeSums[pair.second], planeFactors[4 * pair.first + i]);
  }
  return result;
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

/// A short vector for each lane in memory as four lanes-wide vectors, one for each node along l.
Components transposed(Value memory, int64_t begin, VectorType lanes, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  int64_t width = lanes.getNumElements();
  auto four = VectorType::get({4}, lanes.getElementType());
  Value block = a.constant(VectorType::get({width, 4}, lanes.getElementType()), 0);
  for (int64_t lane = 0; lane < width; ++lane) {
    Value place = arith::ConstantIndexOp::create(b, loc, begin + 4 * lane);
    Value sum = vector::LoadOp::create(b, loc, four, memory, ValueRange{place});
    block = vector::InsertOp::create(b, loc, sum, block, lane);
  }
  Value nodes = vector::TransposeOp::create(b, loc, block, ArrayRef<int64_t>{1, 0});
  return llvm::map_to_vector<9>(llvm::seq<int64_t>(4), [&](int64_t k) -> Value {
    return vector::ExtractOp::create(b, loc, nodes, k);
  });
}

/// sumRows for every lane in turn: sixteen loads of four neighbours are far cheaper than sixty-four
/// gathers. Values that differ by lane go through memory, where a scalar of any lane is one
/// load away; taking lanes out of registers costs several shuffles each. Returns four lanes-wide
/// vectors, one for each node along l, for each pair of orders.
SmallVector<Components> sumRowsOfLanes(const RowSums &sums, const Neighbourhood &at,
                                       VectorType lanes, const GridBounds &grid, Value rowLength,
                                       Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  int64_t width = lanes.getNumElements();
  Type element = lanes.getElementType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Components factors = weightsOf(at.fractions[0], sums.h, a), offsets(at.planes);
  factors.append(weightsOf(at.fractions[1], sums.k, a));
  offsets.append(at.rows);
  offsets.push_back(at.first);
  const int64_t pairs = sums.pairs.size();
  Value factorMemory = scratch(factors.size() * width, element, a);
  Value offsetMemory = scratch(offsets.size() * width, b.getI32Type(), a);
  Value sumMemory = scratch(4 * pairs * width, element, a);
  auto store = [&](ValueRange values, Value memory) {
    for (auto [i, value] : llvm::enumerate(values))
      vector::StoreOp::create(b, loc, value, memory, ValueRange{constant(i * width)});
  };
  store(factors, factorMemory);
  store(offsets, offsetMemory);
  // A grid with less than four values along l is never interpolated in, and must not be read.
  store(SmallVector<Value>(4 * pairs, a.constant(lanes, 0)), sumMemory);
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
    Components rows = sumRows(sums, positions.take_front(4), positions.slice(4, 4),
                              positions.back(), weights.take_front(4 * sums.h.size()),
                              weights.drop_front(4 * sums.h.size()), load, a);
    Value place = arith::MulIOp::create(b, loc, lane, constant(4));
    for (auto [i, sum] : llvm::enumerate(rows)) {
      Value to = arith::AddIOp::create(b, loc, place, constant(4 * width * i));
      vector::StoreOp::create(b, loc, sum, sumMemory, ValueRange{to});
    }
  }
  return llvm::map_to_vector(llvm::seq<int64_t>(pairs), [&](int64_t pair) {
    return transposed(sumMemory, 4 * width * pair, lanes, a);
  });
}

/// All four values of a row. A grid with less is never interpolated in, but it is read: its last
/// value stands in for those that are missing. No mask, which would be a branch on a GPU.
SmallVector<Components> sumRowsOfPoint(const RowSums &sums, const Neighbourhood &at, Type type,
                                       const GridBounds &grid, Value rowLength, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  auto four = VectorType::get({4}, type);
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
  Components rows =
      sumRows(sums, at.planes, at.rows, at.first, weightsOf(at.fractions[0], sums.h, a),
              weightsOf(at.fractions[1], sums.k, a), load, a);
  return llvm::map_to_vector(rows, [&](Value row) {
    return llvm::map_to_vector<9>(llvm::seq<int64_t>(4), [&](int64_t k) -> Value {
      return vector::ExtractOp::create(b, loc, row, k);
    });
  });
}
} // namespace

SmallVector<Value> nb::interpolateAll(ValueRange hkl, ArrayRef<ArrayRef<int64_t>> orders,
                                      const GridBounds &grid, Arithmetic &a) {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  const RowSums sums(orders);
  Neighbourhood at = neighbourhood(hkl, {0, 0, 0}, grid, a);
  Value rowLength =
      arith::AddIOp::create(b, loc, arith::SubIOp::create(b, loc, grid.lMax, grid.lMin),
                            arith::ConstantIndexOp::create(b, loc, 1));
  Type type = hkl.front().getType();
  auto lanes = dyn_cast<VectorType>(type);
  SmallVector<Components> rows = lanes ? sumRowsOfLanes(sums, at, lanes, grid, rowLength, a)
                                       : sumRowsOfPoint(sums, at, type, grid, rowLength, a);
  SmallVector<Value> results;
  for (auto [order, pair] : llvm::zip(orders, sums.ofOrder)) {
    Value result;
    for (auto [sum, weight] :
         llvm::zip(rows[pair], lagrangeWeights(at.fractions[2], order[2], a))) {
      Value term = a.mul(sum, weight);
      result = result ? a.add(result, term) : term;
    }
    results.push_back(result);
  }
  return results;
}
