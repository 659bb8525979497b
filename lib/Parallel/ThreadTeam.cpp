#include "lib/Parallel/ThreadTeam.h"

#include "lib/Trace/Trace.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <system_error>
#include <thread>

namespace nanobragg {

static std::atomic<void (*)()> startHook{nullptr};

void ThreadTeam::atStart(void (*hook)()) { startHook = hook; }

/// Calls of one forEach, on the stack of its caller.
struct ThreadTeam::Job {
  const Work &work;
  std::int64_t count;
  std::atomic<std::int64_t> next{0};
  std::mutex mutex{};
  std::exception_ptr thrown{};

  void take(int thread) {
    if (trace::isOn() && thread > 0)
      trace::nameThread("worker " + std::to_string(thread));
    const trace::Span span("threads", "work");
    try {
      for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
        work(i, thread);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!thrown)
        thrown = std::current_exception();
    }
  }
};

/// A thread of the process. Never freed: it may be asleep in here when the process ends.
struct ThreadTeam::Helper {
  enum State { idle, called, working };
  std::atomic<int> state{idle};
  Job *job = nullptr; ///< set before `called`
  int number = 0;

  void live() {
    if (void (*const hook)() = startHook)
      hook();
    while (true) {
      state.wait(idle);
      // A caller that finished alone has taken its call back.
      if (int expected = called; !state.compare_exchange_strong(expected, working))
        continue;
      job->take(number);
      state = idle;
      state.notify_one();
    }
  }

  void call(Job &of, int as) {
    job = &of;
    number = as;
    state = called;
    state.notify_one();
  }

  /// Returns when it no longer knows the job.
  void awaitEnd() {
    if (int expected = called; state.compare_exchange_strong(expected, idle))
      return;
    for (int now; (now = state) == working;)
      state.wait(now);
  }
};

/// Helpers that are in no team.
struct ThreadTeam::Pool {
  std::mutex mutex;
  std::vector<Helper *> free;

  static Pool &get() {
    static Pool *pool = [] {
      auto *made = new Pool;
      ::pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                       [] { // a child has none of its parent's threads
                         get().free.clear();
                         get().mutex.unlock();
                       });
      return made;
    }();
    return *pool;
  }

  /// Null where the system refuses.
  static Helper *start() {
    try {
      auto helper = std::make_unique<Helper>();
      std::thread(&Helper::live, helper.get()).detach();
      return helper.release();
    } catch (const std::system_error &) {
    } catch (const std::bad_alloc &) {
    }
    return nullptr;
  }
};

ThreadTeam::ThreadTeam(int wanted) {
  if (wanted <= 1)
    return;
  helpers.reserve(std::size_t(wanted - 1));
  Pool &pool = Pool::get();
  {
    const std::lock_guard lock(pool.mutex);
    pool.free.reserve(pool.free.size() + std::size_t(wanted)); // giving back cannot fail
    while (size() < wanted && !pool.free.empty()) {
      helpers.push_back(pool.free.back());
      pool.free.pop_back();
    }
  }
  while (size() < wanted) {
    Helper *const helper = Pool::start();
    if (!helper)
      break;
    helpers.push_back(helper);
  }
}

ThreadTeam::~ThreadTeam() {
  if (helpers.empty())
    return;
  Pool &pool = Pool::get();
  const std::lock_guard lock(pool.mutex);
  for (Helper *helper : helpers)
    try {
      pool.free.push_back(helper);
    } catch (const std::bad_alloc &) {
      break; // it sleeps until the process ends
    }
}

void ThreadTeam::forEach(std::int64_t count, const Work &work) {
  Job job{work, count};
  const auto called = std::size_t(std::clamp<std::int64_t>(count - 1, 0, size() - 1));
  for (std::size_t i = 0; i != called; ++i)
    helpers[i]->call(job, int(i + 1));
  job.take(0);
  for (std::size_t i = 0; i != called; ++i)
    helpers[i]->awaitEnd();
  if (job.thrown)
    std::rethrow_exception(job.thrown);
}

int availableProcessors() {
  // std::thread::hardware_concurrency counts processors that this process may not use.
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t *)> set(CPU_ALLOC(most),
                                                                [](cpu_set_t *s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    if (set && ::sched_getaffinity(0, bytes, set.get()) == 0)
      return std::max(CPU_COUNT_S(bytes, set.get()), 1);
  }
  return 1;
}

} // namespace nanobragg
