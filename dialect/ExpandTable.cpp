#include "dialect/RuleBuilder.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
/// Writes the search for a number in a table of nodes that ascend.
class TableReader {
public:
  TableReader(Value nodes, Value first, Value last, RuleBuilder &r)
      : nodes(nodes), first(first), last(last), r(r), one(constant(1)) {}

  /// An index outside the list reads the nearest entry inside.
  Value entry(Value list, Value index);
  Value node(Value index) { return entry(nodes, index); }
  Value clamped(Value x);
  Value interval(Value x);
  Value constant(double number) { return r.constant(first.getType(), number); }

  const Value nodes, first, last;
  RuleBuilder &r;
  const Value one;
};
} // namespace

Value TableReader::entry(Value list, Value index) {
  Value zero = r.zeroLike(index);
  return StructureFactorOp::create(r.builder(), r.location(), first.getType(),
                                   Interpolation::nearest, list, r.vec(zero, zero, index), Value(),
                                   /*integral=*/true, ArrayRef<int64_t>{0, 0, 0});
}

/// Between the first node and the last one.
Value TableReader::clamped(Value x) {
  Value low = node(first), high = node(last);
  Value raised = r.select(r.less(x, low), low, x);
  return r.select(r.less(high, raised), high, raised);
}

/// The last entry before the end of the table whose node is not beyond x: by halving, in steps
/// that are the same for all pixels.
Value TableReader::interval(Value x) {
  Value at = first;
  for (int step = 1 << (TabulatedFactorOp::searchSteps - 1); step > 0; step /= 2) {
    Value next = r.add(at, constant(step));
    Value inTable = r.select(r.less(next, last), next, at);
    at = r.select(r.less(x, node(next)), at, inTable);
  }
  return at;
}

/// Lagrange's formula. A missing entry has the factors 1 and the weight 0.
static Value lagrange(TableReader &table, Value values, Value stol) {
  RuleBuilder &r = table.r;
  Value x = table.clamped(stol), at = table.interval(x), one = table.one;
  Value half = table.constant(0.5);
  Value noneBefore = r.less(at, r.add(table.first, half));
  Value noneBehind = r.less(r.sub(r.sub(table.last, one), half), at);
  Value indices[] = {r.sub(at, one), at, r.add(at, one), r.add(at, table.constant(2))};
  Value nodes[4];
  for (unsigned i = 0; i < 4; ++i)
    nodes[i] = table.node(indices[i]);
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
    Value term = r.mul(weight, table.entry(values, indices[i]));
    result = result ? r.add(result, term) : term;
  }
  return result;
}

Value TabulatedFactorOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  TableReader table(getNodes(), getFirst(), getLast(), r);
  return lagrange(table, getValues(), getStol());
}

Value TablePositionOp::expand(OpBuilder &builder) {
  RuleBuilder r(builder, getLoc());
  TableReader table(getNodes(), getFirst(), getLast(), r);
  Value x = table.clamped(getAt()), i = table.interval(x);
  Value below = table.node(i), above = table.node(r.add(i, table.one));
  // A single entry has no interval, and its derivative none of 0 / 0.
  Value isInterval = r.less(getFirst(), getLast());
  Value width = r.select(isInterval, r.sub(above, below), table.one);
  return r.add(i, r.select(isInterval, r.div(r.sub(x, below), width), Value()));
}
