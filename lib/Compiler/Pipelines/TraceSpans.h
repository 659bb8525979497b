// The spans of LLVM's time profiler, for others to record.
#ifndef NB_COMPILER_TRACESPANS_H
#define NB_COMPILER_TRACESPANS_H

#include <cstdint>

namespace mlir::nb {

/// Takes a span; times are nanoseconds of CLOCK_MONOTONIC.
using SpanSink = void (*)(const char *name, const char *detail, int64_t begin, int64_t end);

/// While it lives, llvm::TimeTraceProfiler records what this thread does: passes of MLIR in a
/// FlaggedPassManager, phases, passes of LLVM. At its end `sink` gets them. With a null sink, or
/// inside of another one, it does nothing.
class TraceSpans {
public:
  explicit TraceSpans(SpanSink sink);
  TraceSpans(const TraceSpans &) = delete;
  ~TraceSpans();

private:
  SpanSink sink;
  int64_t begin = 0;
};

} // namespace mlir::nb

#endif
