#include "dialect/Names.h"
#include "lib/Conversion/Arith/GridAccess.h"
#include "lib/Conversion/Arith/GridToArith.h"
#include "lib/Conversion/Arith/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Adds to the values of a grid, lane by lane: two lanes may hit the same reflection.
class GridScatter {
public:
  GridScatter(ScatterFactorOp op, OpBuilder &b, Value buffer, Value active, bool concurrent)
      : b(b), loc(op.getLoc()), a(b, loc), buffer(buffer), concurrent(concurrent),
        hkl(scalarsOf(b, loc, op.getHkl())), value(op.getValue()),
        grid(openGrid(partsOf(op.getLike()), hkl.front().getType(), a)) {
    if (active)
      value = a.select(active, value, a.constant(value.getType(), 0));
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      lanes = vector.getNumElements();
  }

  void nearest(bool integral);
  void tricubic(ArrayRef<int64_t> order);

private:
  static GridParts partsOf(Value like) {
    ValueRange p = splitArgument(cast<BlockArgument>(like));
    return {p[0], p[1], p[2], p[3], p[4], p[5], p[6]};
  }
  Value at(Value v, int64_t lane) {
    return isa<VectorType>(v.getType()) ? Value(vector::ExtractOp::create(b, loc, v, lane)) : v;
  }
  /// A position of one lane as an index.
  Value indexAt(Value position, int64_t lane) {
    Value one = at(position, lane);
    return one.getType().isIndex()
               ? one
               : Value(arith::IndexCastOp::create(b, loc, b.getIndexType(), one));
  }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  void addNumber(Value term, Value index);
  void addRow(Value row, Value index, Value mask);

  OpBuilder &b;
  Location loc;
  Arithmetic a;
  Value buffer;
  bool concurrent;
  SmallVector<Value> hkl;
  Value value;
  GridBounds grid;
  int64_t lanes = 1;
};
} // namespace

/// buffer[index] += term
void GridScatter::addNumber(Value term, Value index) {
  if (concurrent) {
    auto add = memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addf, term, buffer, index);
    add->setAttr(names::scattered, b.getUnitAttr());
    return;
  }
  Value old = memref::LoadOp::create(b, loc, buffer, index);
  memref::StoreOp::create(b, loc, a.add(old, term), buffer, index);
}

/// Adds those of four neighbouring values that the mask says.
void GridScatter::addRow(Value row, Value index, Value mask) {
  if (!concurrent) {
    Value old = vector::MaskedLoadOp::create(b, loc, row.getType(), buffer, ValueRange{index}, mask,
                                             a.constant(row.getType(), 0));
    vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{index}, mask, a.add(old, row));
    return;
  }
  // Without a branch: beyond a row that is shorter than four, 0 is added to its first value.
  Value zero = a.constant(b.getF64Type(), 0);
  for (int64_t i = 0; i < 4; ++i) {
    Value inside = vector::ExtractOp::create(b, loc, mask, i);
    Value near = plus(index, arith::ConstantIndexOp::create(b, loc, i));
    addNumber(a.select(inside, vector::ExtractOp::create(b, loc, row, i), zero),
              arith::SelectOp::create(b, loc, inside, near, index));
  }
}

void GridScatter::nearest(bool integral) {
  Value position = nearestPosition(nearestIndex(hkl, integral, a), grid, a);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value index = indexAt(position, lane);
    addNumber(at(value, lane), index);
  }
}

void GridScatter::tricubic(ArrayRef<int64_t> order) {
  Neighbourhood near = neighbourhood(hkl, order, grid, a);
  Value mask = grid.rowMask(a);
  auto four = VectorType::get({4}, b.getF64Type());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    SmallVector<Value> along;
    for (Value weight : near.weights[2])
      along.push_back(a.mul(at(weight, lane), at(value, lane)));
    Value row = vector::FromElementsOp::create(b, loc, four, along);
    for (int i = 0; i < 4; ++i) {
      Value plane = plus(indexAt(near.planes[i], lane), indexAt(near.first, lane));
      for (int j = 0; j < 4; ++j) {
        Value index = plus(plane, indexAt(near.rows[j], lane));
        Value weight = a.mul(at(near.weights[0][i], lane), at(near.weights[1][j], lane));
        Value term = a.mul(row, vector::BroadcastOp::create(b, loc, four, weight));
        addRow(term, index, mask);
      }
    }
  }
}

Value nb::gridEntries(OpBuilder &b, Location loc, ValueRange parts) {
  SmallVector<Value> sizes;
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value span = arith::SubIOp::create(b, loc, parts[2 * axis + 1], parts[2 * axis]);
    sizes.push_back(arith::AddIOp::create(b, loc, span, indexConstant(b, loc, 1)));
  }
  return product(b, loc, sizes);
}

void nb::addToGrid(ScatterFactorOp op, OpBuilder &b, Value buffer, Value active, bool concurrent) {
  GridScatter scatter(op, b, buffer, active, concurrent);
  if (op.getInterpolation() == Interpolation::nearest)
    scatter.nearest(op.getIntegral());
  else
    scatter.tricubic(op.getOrder());
}
