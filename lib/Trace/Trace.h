// A record of what ran when, and on which thread, in Chrome's trace event format.
//
//   trace::start(trace::Clock::now());
//   { const trace::Span span("files", "read the reflections"); ... }
//   std::string json = trace::finish("nb-sim"); // for ui.perfetto.dev and chrome://tracing
#ifndef NANOBRAGG_TRACE_TRACE_H
#define NANOBRAGG_TRACE_TRACE_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanobragg::trace {

using Clock = std::chrono::steady_clock;

namespace detail {
extern std::atomic<bool> recording;
}

/// Is there a record? Everything below does nothing without one, and costs one load.
inline bool isOn() { return detail::recording.load(std::memory_order_relaxed); }

/// Begins the record of this process, whose time counts from `from`. A record that exists goes on.
void start(Clock::time_point from);
/// Has nothing been added since?
bool isEmpty();
/// Ends the record and returns it; `program` is the name of the process in it.
std::string finish(const std::string &program);

/// A row of the picture: a thread, or a queue of a device.
using Lane = int;
/// The lane of the calling thread.
Lane ownLane();
/// Names the calling thread, unless it has a name.
void nameThread(const std::string &name);
/// The lane of this name that is no thread.
Lane laneNamed(const std::string &name);

/// A span that has ended. Spans of one lane are nested or apart.
void add(const char *category, std::string name, std::string detail, Clock::time_point begin,
         Clock::time_point end, Lane lane);

/// A span of the compiler's, on the calling thread; times are nanoseconds of CLOCK_MONOTONIC.
void addCompilerSpan(const char *name, const char *detail, std::int64_t begin, std::int64_t end);

/// The span of its own life. `category` is a literal: "compiler", "cache", "threads", "files",
/// "gpu" or "run".
class Span {
public:
  Span(const char *category, std::string_view spanName);
  Span(const char *category, std::string_view spanName, Lane lane) : Span(category, spanName) {
    row = lane;
  }
  Span(const Span &) = delete;
  ~Span();

  /// Says more; `make()` returns a string, and is called only where there is a record.
  template <typename Make>
  void explain(Make make) {
    if (on)
      about = make();
  }

private:
  bool on;
  const char *kind;
  Lane row = -1; ///< -1: the calling thread's
  std::string name, about;
  Clock::time_point begin;
};

} // namespace nanobragg::trace
#endif
