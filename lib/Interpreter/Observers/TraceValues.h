// The quantities of a trace.
#ifndef NB_INTERPRETER_TRACEVALUES_H
#define NB_INTERPRETER_TRACEVALUES_H

#include "lib/Interpreter/Run.h"

namespace mlir::nb {

struct TraceValue {
  std::string key, value;
};

/// A named value under the keys that other programs give it, in their units, and what they show
/// besides: quantities that one op of ours computes in one go. The pixel is the tile's first.
class TraceValues {
public:
  TraceValues(const Plan &plan, Frame &frame) : plan(plan), frame(frame) {}

  std::vector<TraceValue> of(Operation *op);
  std::vector<TraceValue> ofArgument(Value argument);

private:
  void named(Value value);
  void derived(Operation *op);
  SmallVector<double, 9> numbers(Value value);
  void add(const char *key, ArrayRef<double> values);
  void add(const char *key, double value) { add(key, ArrayRef<double>(value)); }

  const Plan &plan;
  Frame &frame;
  std::vector<TraceValue> values;
};

} // namespace mlir::nb

#endif
