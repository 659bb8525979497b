#include "lib/Interpreter/Observers/Trace.h"

#include "lib/Interpreter/Observers/TraceValues.h"

using namespace mlir;
using namespace mlir::nb;

namespace {
class TraceObserver : public Observer {
public:
  explicit TraceObserver(TraceLog &log) : log(log) {}
  void evaluated(const Step &step, Frame &frame) override { log.write(step, frame); }

private:
  TraceLog &log;
};
} // namespace

TraceLog::TraceLog(const Plan &plan, raw_ostream &out) : plan(plan), out(out) {}

std::unique_ptr<Observer> TraceLog::observer() { return std::make_unique<TraceObserver>(*this); }

void TraceLog::writeArguments(Frame &frame) {
  TraceValues values(plan, frame);
  for (Value argument : func::FuncOp(plan.function).getArguments())
    for (const TraceValue &value : values.ofArgument(argument))
      line(value.key, "", value.value);
}

void TraceLog::write(const Step &step, Frame &frame) {
  std::string indices;
  if (auto loops = plan.planner.loopsOf.find(step.op); loops != plan.planner.loopsOf.end())
    for (const LoopIndex &loop : loops->second)
      if ((step.dims & bitOf(loop.dimension)) && *frame.integers(loop.count) > 1)
        indices += (indices.empty() ? "[" : ",") + stringifyDimension(loop.dimension).str() + "=" +
                   std::to_string(*frame.integers(loop.slot));
  if (!indices.empty())
    indices += "]";
  for (const TraceValue &value : TraceValues(plan, frame).of(step.op))
    line(value.key, indices, value.value);
}

void TraceLog::line(StringRef key, const std::string &indices, const std::string &value) {
  std::string text = "TRACE " + key.str() + indices + " " + value + "\n";
  if (written.insert(text).second)
    out << text;
}
