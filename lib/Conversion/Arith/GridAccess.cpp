#include "lib/Conversion/Arith/GridAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nb;

Value GridBounds::rowMask(Arithmetic &a) const {
  OpBuilder &b = a.builder();
  Location loc = a.location();
  Value length = arith::AddIOp::create(b, loc, arith::SubIOp::create(b, loc, lMax, lMin),
                                       arith::ConstantIndexOp::create(b, loc, 1));
  return vector::CreateMaskOp::create(b, loc, VectorType::get({4}, b.getI1Type()), length);
}

static Value broadcastTo(Value scalar, Type type, Arithmetic &a) {
  if (scalar.getType() == type)
    return scalar;
  return vector::BroadcastOp::create(a.builder(), a.location(), type, scalar);
}

GridBounds nb::openGrid(const GridParts &parts, Type type, Arithmetic &a) {
  auto bound = [&](Value index) {
    return broadcastTo(a.toFloat(index, getElementTypeOrSelf(type)), type, a);
  };
  return {{{bound(parts.hMin), bound(parts.hMax)},
           {bound(parts.kMin), bound(parts.kMax)},
           {bound(parts.lMin), bound(parts.lMax)}},
          parts.lMin,
          parts.lMax,
          parts.data};
}

Value nb::clamp(Value x, Value low, Value high, Arithmetic &a) {
  return a.max(a.min(x, high), low);
}

Components nb::nearestIndex(ValueRange hkl, bool integral, Arithmetic &a) {
  if (integral)
    return llvm::to_vector<9>(hkl);
  return llvm::map_to_vector<9>(hkl, [&](Value h) { return a.ceil(a.sub(h, 0.5)); });
}

Value nb::flatten(ValueRange index, const GridBounds &grid, Arithmetic &a) {
  auto size = [&](const GridAxis &axis) { return a.add(a.sub(axis.high, axis.low), 1); };
  Value stride = size(grid.axes[2]), planes = a.mul(size(grid.axes[1]), stride);
  auto position = [&](Value h, Value k, Value rest) {
    return a.add(a.mul(h, planes), a.add(a.mul(k, stride), rest));
  };
  const GridAxis &h = grid.axes[0], &k = grid.axes[1], &l = grid.axes[2];
  return position(index[0], index[1], a.sub(index[2], position(h.low, k.low, l.low)));
}

Value nb::nearestPosition(ValueRange index, const GridBounds &grid, Arithmetic &a) {
  Components clamped;
  for (auto [x, axis] : llvm::zip(index, grid.axes))
    clamped.push_back(clamp(x, axis.low, axis.high, a));
  return a.toInteger(flatten(clamped, grid, a));
}

/// The four Lagrange weights on the nodes -1, 0, 1, 2 at t.
static Components plainWeights(Value t, Arithmetic &a) {
  Value p = a.add(t, 1), m = a.sub(t, 1), n = a.sub(t, 2);
  return {a.mul(a.mul(a.mul(t, m), n), -1.0 / 6), a.mul(a.mul(a.mul(p, m), n), 0.5),
          a.mul(a.mul(a.mul(p, t), n), -0.5), a.mul(a.mul(a.mul(p, t), m), 1.0 / 6)};
}

/// Their derivatives: the weights as polynomials, lowest coefficient first.
Components nb::lagrangeWeights(Value t, int64_t order, Arithmetic &a) {
  if (order == 0)
    return plainWeights(t, a);
  constexpr double polynomials[4][4] = {{0, -1.0 / 3, 0.5, -1.0 / 6},
                                        {1, -0.5, -1, 0.5},
                                        {0, 1, 0.5, -0.5},
                                        {0, -1.0 / 6, 0, 1.0 / 6}};
  Components weights;
  for (const auto &polynomial : polynomials) {
    SmallVector<double> differentiated(polynomial, polynomial + 4);
    for (int64_t k = 0; k < order && !differentiated.empty(); ++k) {
      differentiated.erase(differentiated.begin());
      for (auto [i, coefficient] : llvm::enumerate(differentiated))
        coefficient *= double(i + 1);
    }
    weights.push_back(differentiated.empty() ? a.constant(t.getType(), 0)
                                             : a.polynomial(differentiated, t));
  }
  return weights;
}

Neighbourhood nb::neighbourhood(ValueRange hkl, ArrayRef<int64_t> order, const GridBounds &grid,
                                Arithmetic &a) {
  auto size = [&](const GridAxis &axis) { return a.add(a.sub(axis.high, axis.low), 1); };
  Value lSize = size(grid.axes[2]);
  Value strides[] = {a.mul(size(grid.axes[1]), lSize), lSize};
  Neighbourhood result;
  for (unsigned i = 0; i < 3; ++i) {
    const GridAxis &axis = grid.axes[i];
    Value base = a.floor(hkl[i]);
    result.fractions[i] = a.sub(hkl[i], base);
    result.weights[i] = lagrangeWeights(result.fractions[i], order[i], a);
    if (i == 2) {
      Value last = a.max(a.sub(axis.high, 3), axis.low);
      result.first = a.toInteger(a.sub(clamp(a.sub(base, 1), axis.low, last, a), axis.low));
      continue;
    }
    // Nodes are clamped one by one, so that no grid, however small, is read outside.
    for (int node = -1; node <= 2; ++node) {
      Value index = clamp(a.add(base, double(node)), axis.low, axis.high, a);
      Components &offsets = i == 0 ? result.planes : result.rows;
      offsets.push_back(a.toInteger(a.mul(a.sub(index, axis.low), strides[i])));
    }
  }
  return result;
}
