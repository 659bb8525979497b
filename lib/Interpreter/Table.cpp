#include "lib/Interpreter/Map.h"
#include "nanobragg/KernelABI.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nb;
using namespace mlir::nb::evaluation;

/// The value at x of the polynomial through some points, by Neville's scheme.
static double polynomialThrough(ArrayRef<double> nodes, ArrayRef<double> values, double x) {
  SmallVector<double> p(values);
  for (size_t width = 1; width < p.size(); ++width)
    for (size_t i = 0; i + width < p.size(); ++i) {
      const double low = nodes[i], high = nodes[i + width];
      p[i] = ((x - high) * p[i] + (low - x) * p[i + 1]) / (low - high);
    }
  return p.front();
}

static double tabulatedFactor(ArrayRef<double> nodes, ArrayRef<double> values, double stol) {
  const double x = std::clamp(stol, nodes.front(), nodes.back());
  const auto above = std::upper_bound(nodes.begin(), nodes.end(), x) - nodes.begin();
  const auto interval = std::clamp<int64_t>(above - 1, 0, int64_t(nodes.size()) - 2);
  const auto first = std::max<int64_t>(interval - 1, 0);
  const auto count = std::min<int64_t>(interval + 3, int64_t(nodes.size())) - first;
  return polynomialThrough(nodes.slice(first, count), values.slice(first, count), x);
}

/// From the first of these nodes on, of which there are two at least.
static double intervalsTo(ArrayRef<double> nodes, double at) {
  const double x = std::clamp(at, nodes.front(), nodes.back());
  size_t i = 0;
  while (i + 2 < nodes.size() && nodes[i + 1] <= x)
    ++i;
  return double(i) + (x - nodes[i]) / (nodes[i + 1] - nodes[i]);
}

/// A table of an op: the lists of the experiment from entry `first` on.
struct Entries {
  ArrayRef<double> nodes, values;
  int64_t first;
};

/// Evaluates tables of `fewest` entries at least at the numbers `x`.
template <typename Op>
static LogicalResult planTable(Op op, Value values, Value x, int64_t fewest, Planner &planner,
                               double (*evaluate)(const Entries &, double)) {
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op.getResult(), dims);
  if (failed(result))
    return failure();
  Slot nodes = planner.slot(op.getNodes()), ordinates = planner.slot(values);
  Slot first = planner.slot(op.getFirst()), last = planner.slot(op.getLast());
  Slot number = planner.slot(x);
  planner.step(op, dims, [=, out = *result](Frame &frame) {
    const nb_hkl_grid &allNodes = *frame.object<const nb_hkl_grid>(nodes);
    const nb_hkl_grid &allValues = *frame.object<const nb_hkl_grid>(ordinates);
    AnyOperand<double> from(frame.reals(first), first.varying);
    AnyOperand<double> to(frame.reals(last), last.varying);
    AnyOperand<double> at(frame.reals(number), number.varying);
    for (int64_t lane = 0, lanes = frame.lanesOf(out); lane < lanes; ++lane) {
      const auto begin = int64_t(from[lane]), end = int64_t(to[lane]);
      if (begin < 0 || end - begin + 1 < fewest || end > allNodes.l_max || end > allValues.l_max)
        return frame.fail(op, "'" + op->getName().getStringRef().str() +
                                  "' op reads outside the table");
      const auto size = size_t(end - begin + 1);
      const Entries table{{allNodes.data + begin, size}, {allValues.data + begin, size}, begin};
      store<double>(frame.reals(out), laneStride, lane, evaluate(table, at[lane]));
    }
    if (out.single)
      roundToSingle(frame, out);
  });
  return success();
}

static LogicalResult planTabulatedFactor(TabulatedFactorOp op, Planner &planner) {
  return planTable(op, op.getValues(), op.getStol(), 2, planner, [](const Entries &t, double stol) {
    return tabulatedFactor(t.nodes, t.values, stol);
  });
}

static LogicalResult planTablePosition(TablePositionOp op, Planner &planner) {
  return planTable(op, op.getNodes(), op.getAt(), 1, planner, [](const Entries &t, double x) {
    return double(t.first) + (t.nodes.size() == 1 ? 0 : intervalsTo(t.nodes, x));
  });
}

void evaluation::attachTable(MLIRContext *context) {
  evaluateBy<TabulatedFactorOp, planTabulatedFactor>(context);
  evaluateBy<TablePositionOp, planTablePosition>(context);
}
