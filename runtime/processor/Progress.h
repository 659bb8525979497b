// A rate-limited progress callback.
#ifndef NANOBRAGG_RUNTIME_PROGRESS_H
#define NANOBRAGG_RUNTIME_PROGRESS_H

#include "runtime/processor/Stopwatch.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

namespace nanobragg {

/// Counts finished work from many threads and passes the fraction on, one call at a time, never
/// decreasing, at most once per interval.
class Progress {
public:
  using Callback = std::function<void(double)>;

  Progress(const Callback &callback, double intervalSeconds, std::int64_t total)
      : callback(callback), interval(intervalSeconds), total(total) {}

  void add(std::int64_t amount) {
    const std::int64_t now = done.fetch_add(amount, std::memory_order_relaxed) + amount;
    if (!callback || now >= total)
      return; // finish() reports the end
    // A thread that finds another one reporting goes back to work.
    std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock || now <= reported || sinceLast.seconds() < interval)
      return;
    reported = now;
    sinceLast = Stopwatch();
    callback(double(now) / double(total));
  }

  void finish() {
    if (callback)
      callback(1);
  }

private:
  const Callback &callback;
  double interval;
  std::int64_t total;
  std::atomic<std::int64_t> done{0};
  std::mutex mutex;
  std::int64_t reported = 0; ///< guarded by mutex, as is `sinceLast`
  Stopwatch sinceLast;
};

} // namespace nanobragg
#endif
