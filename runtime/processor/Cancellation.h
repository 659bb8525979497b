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

/// While it lives, the first SIGINT, SIGTERM or SIGHUP requests `token` and the second one ends the
/// process at once, after `beforeDeath`, which must be async-signal-safe. One at a time per
/// process; throws std::logic_error otherwise. A SIGHUP that was ignored (nohup) stays ignored.
class InterruptGuard {
public:
  explicit InterruptGuard(CancellationToken &token, void (*beforeDeath)() noexcept = nullptr);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;

  /// The signal that came, or 0. A shell expects the exit status 128 + signal.
  int signal() const noexcept;
};

} // namespace nanobragg
#endif
