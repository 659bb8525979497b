// A lock that a forked child does not wait for.
#ifndef NANOBRAGG_PARALLEL_PROCESSMUTEX_H
#define NANOBRAGG_PARALLEL_PROCESSMUTEX_H

#include <atomic>
#include <stdexcept>
#include <sys/types.h>
#include <unistd.h>

namespace nanobragg {

/// A mutex. One that a thread of the parent had when this process was forked has no thread that
/// would give it back: lock() throws in place of waiting for ever.
class ProcessMutex {
public:
  void lock() {
    const pid_t self = ::getpid();
    for (pid_t seen = 0; !holder.compare_exchange_strong(seen, self); seen = 0) {
      if (seen != self)
        throw std::runtime_error(
            "this process was forked while another thread of its parent used this simulator or "
            "the compiler; start processes by spawn or forkserver, or fork while none is in use");
      holder.wait(seen);
    }
  }
  void unlock() {
    holder = 0;
    holder.notify_one();
  }

private:
  std::atomic<pid_t> holder{0}; ///< 0: none
};

} // namespace nanobragg
#endif
