#include "lib/Interpreter/Observers/CheckFinite.h"

#include "lib/Interpreter/Names.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::nb;

std::string nb::describeLoops(ArrayRef<LoopIndex> loops, Frame &frame) {
  std::string text;
  for (const LoopIndex &loop : loops)
    text += (text.empty() ? "" : ", ") + stringifyDimension(loop.dimension).str() + " " +
            std::to_string(*frame.integers(loop.slot));
  return text;
}

namespace {
class FiniteCheck : public Observer {
public:
  explicit FiniteCheck(const Plan &plan) : plan(plan) {}

  void evaluated(const Step &step, Frame &frame) override {
    if (step.op->hasTrait<OpTrait::ConstantLike>())
      return;
    for (Slot slot : step.results) {
      if (slot.kind != Kind::Real)
        continue;
      const double *words = frame.reals(slot);
      int64_t stride = slot.varying ? laneStride : 1;
      for (int64_t lane = 0, lanes = frame.lanesOf(slot); lane < lanes; ++lane)
        for (int64_t c = 0; c < slot.components; ++c)
          if (!std::isfinite(words[c * stride + lane]) &&
              (!slot.varying || !frame.active || frame.active[lane]))
            return report(step.op, slot, frame, lane);
    }
  }

private:
  void report(Operation *op, Slot slot, Frame &frame, int64_t lane) {
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "'" << op->getName() << "'";
    if (std::string name = nameOf(op->getLoc()); !name.empty())
      out << " (" << name << ")";
    out << " yields " << valueAt(frame, slot, lane);
    if (pixels) {
      out << " at pixel slow " << pixels->slow[lane] << ", fast " << pixels->fast[lane];
      if (pixels->panel)
        out << " of panel " << pixels->panel;
    }
    if (auto loops = plan.planner.loopsOf.find(op);
        loops != plan.planner.loopsOf.end() && !loops->second.empty())
      out << " (" << describeLoops(loops->second, frame) << ")";
    const char *separator = "; operands ";
    for (Value operand : op->getOperands()) {
      Slot from = plan.planner.slot(operand);
      if (from.kind == Kind::Object)
        continue;
      out << separator;
      if (std::string name = nameOf(operand.getLoc()); !name.empty())
        out << name << " = ";
      out << valueAt(frame, from, lane);
      separator = ", ";
    }
    frame.fail(op, text);
  }

  const Plan &plan;
};
} // namespace

std::unique_ptr<Observer> nb::makeFiniteCheck(const Plan &plan) {
  return std::make_unique<FiniteCheck>(plan);
}
