#include "dialect/RuleBuilder.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Writes the lookup of a value in a table.
class TableReader {
public:
  TableReader(TabulatedFactorOp op, RuleBuilder &r)
      : op(op), r(r), one(r.constant(op.getType(), 1)) {}

  Value value();

private:
  Value entry(Value list, Value index);
  Value clampedStol();
  Value interval(Value stol);

  TabulatedFactorOp op;
  RuleBuilder &r;
  Value one;
};
} // namespace

/// That of an index outside the list is the nearest one inside.
Value TableReader::entry(Value list, Value index) {
  Value zero = r.zeroLike(index);
  return StructureFactorOp::create(r.builder(), r.location(), op.getType(), Interpolation::nearest,
                                   list, r.vec(zero, zero, index), Value(), /*integral=*/true,
                                   ArrayRef<int64_t>{0, 0, 0});
}

Value TableReader::clampedStol() {
  Value low = entry(op.getNodes(), op.getFirst()), high = entry(op.getNodes(), op.getLast());
  Value raised = r.select(r.less(op.getStol(), low), low, op.getStol());
  return r.select(r.less(high, raised), high, raised);
}

/// The last entry before the end of the table whose node is not beyond `stol`: by halving, in steps
/// that are the same for all pixels.
Value TableReader::interval(Value stol) {
  Value at = op.getFirst();
  for (int step = 1 << (TabulatedFactorOp::searchSteps - 1); step > 0; step /= 2) {
    Value next = r.add(at, r.constant(op.getType(), step));
    Value inTable = r.select(r.less(next, op.getLast()), next, at);
    at = r.select(r.less(stol, entry(op.getNodes(), next)), at, inTable);
  }
  return at;
}

/// Lagrange's formula. Of an entry that is missing every factor is 1, and its weight is 0.
Value TableReader::value() {
  Value x = clampedStol(), at = interval(x);
  Value half = r.constant(op.getType(), 0.5);
  Value noneBefore = r.less(at, r.add(op.getFirst(), half));
  Value noneBehind = r.less(r.sub(r.sub(op.getLast(), one), half), at);
  Value indices[] = {r.sub(at, one), at, r.add(at, one), r.add(at, r.constant(op.getType(), 2))};
  Value nodes[4];
  for (unsigned i = 0; i < 4; ++i)
    nodes[i] = entry(op.getNodes(), indices[i]);
  auto factor = [&](Value from, unsigned i, unsigned j) {
    Value difference = r.sub(from, nodes[i]);
    if (i == 0 || j == 0)
      difference = r.select(noneBefore, one, difference);
    if (i == 3 || j == 3)
      difference = r.select(noneBehind, one, difference);
    return difference;
  };
  Value result;
  for (unsigned i = 0; i < 4; ++i) {
    Value above, below;
    for (unsigned j = 0; j < 4; ++j) {
      if (j == i)
        continue;
      Value up = factor(x, j, j), down = factor(nodes[i], j, i);
      above = above ? r.mul(above, up) : up;
      below = below ? r.mul(below, down) : down;
    }
    Value weight = r.div(above, below);
    if (i == 0)
      weight = r.select(noneBefore, Value(), weight);
    if (i == 3)
      weight = r.select(noneBehind, Value(), weight);
    Value term = r.mul(weight, entry(op.getValues(), indices[i]));
    result = result ? r.add(result, term) : term;
  }
  return result;
}

Value TabulatedFactorOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  return TableReader(*this, r).value();
}
