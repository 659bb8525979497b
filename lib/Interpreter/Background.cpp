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

static LogicalResult planTabulatedFactor(TabulatedFactorOp op, Planner &planner) {
  Dimensions dims = planner.dimsOf(op->getOperands());
  auto result = planner.define(op.getResult(), dims);
  if (failed(result))
    return failure();
  Slot values = planner.slot(op.getValues()), nodes = planner.slot(op.getNodes());
  Slot first = planner.slot(op.getFirst()), last = planner.slot(op.getLast());
  Slot stol = planner.slot(op.getStol());
  planner.step(op, dims, [=, out = *result](Frame &frame) {
    const nb_hkl_grid &allNodes = *frame.object<const nb_hkl_grid>(nodes);
    const nb_hkl_grid &allValues = *frame.object<const nb_hkl_grid>(values);
    const int64_t entries = allNodes.l_max + 1;
    AnyOperand<double> from(frame.reals(first), first.varying);
    AnyOperand<double> to(frame.reals(last), last.varying);
    AnyOperand<double> at(frame.reals(stol), stol.varying);
    for (int64_t lane = 0, lanes = frame.lanesOf(out); lane < lanes; ++lane) {
      const auto begin = int64_t(from[lane]), end = int64_t(to[lane]);
      if (begin < 0 || end <= begin || end >= entries || end > allValues.l_max)
        return frame.fail(op, "'nb.tabulated_factor' op reads outside the table");
      const auto size = size_t(end - begin + 1);
      store<double>(frame.reals(out), laneStride, lane,
                    tabulatedFactor({allNodes.data + begin, size}, {allValues.data + begin, size},
                                    at[lane]));
    }
    if (out.single)
      roundToSingle(frame, out);
  });
  return success();
}

void evaluation::attachBackground(MLIRContext *context) {
  evaluateBy<TabulatedFactorOp, planTabulatedFactor>(context);
}
