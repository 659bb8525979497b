// Asks a run to stop.
#ifndef NANOBRAGG_CANCELLATION_H
#define NANOBRAGG_CANCELLATION_H

#include <atomic>

namespace nanobragg {

/// Set from any thread or signal handler, read by the runner between tiles.
class CancellationToken {
public:
  void request() noexcept { flag.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return flag.load(std::memory_order_relaxed); }

private:
  std::atomic<bool> flag{false};
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler stores to it");
};

} // namespace nanobragg
#endif
