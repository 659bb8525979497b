// How long something takes.
#ifndef NANOBRAGG_PROCESSOR_STOPWATCH_H
#define NANOBRAGG_PROCESSOR_STOPWATCH_H

#include <chrono>

namespace nanobragg {

/// Wall-clock time since it was made.
class Stopwatch {
public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

  std::chrono::steady_clock::time_point begin() const { return start; }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

/// Adds the time that it lives to a sum of seconds.
class TimeAdded {
public:
  explicit TimeAdded(double &seconds) : seconds(seconds) {}
  TimeAdded(const TimeAdded &) = delete;
  ~TimeAdded() { seconds += watch.seconds(); }

private:
  double &seconds;
  Stopwatch watch;
};

} // namespace nanobragg
#endif
