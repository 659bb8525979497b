#include "lib/Compiler/Pipelines/TraceSpans.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir::nb;

static int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TraceSpans::TraceSpans(SpanSink sink) : sink(llvm::timeTraceProfilerEnabled() ? nullptr : sink) {
  if (!this->sink)
    return;
  begin = now();
  llvm::timeTraceProfilerInitialize(/*TimeTraceGranularity=*/0, "");
}

/// LLVM hands its spans out as JSON only.
TraceSpans::~TraceSpans() {
  if (!sink)
    return;
  const int64_t end = now();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::timeTraceProfilerWrite(stream);
  llvm::timeTraceProfilerCleanup();
  auto json = llvm::json::parse(text);
  if (!json) {
    llvm::consumeError(json.takeError());
    return;
  }
  for (const llvm::json::Value &value : *json->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &event = *value.getAsObject();
    // Sums over all spans of a name have an empty lane each.
    const auto name = event.getString("name"), kind = event.getString("ph");
    const auto at = event.getInteger("ts"), length = event.getInteger("dur");
    if (kind != "X" || !name || !at || !length || name->starts_with("Total "))
      continue;
    const llvm::json::Object *about = event.getObject("args");
    const std::string detail =
        about && about->getString("detail") ? about->getString("detail")->str() : "";
    constexpr int64_t micro = 1000;
    sink(name->str().c_str(), detail.c_str(), begin + *at * micro, begin + (*at + *length) * micro);
  }
  sink("hand out these spans", "", end, now()); // which takes its time, too
}
