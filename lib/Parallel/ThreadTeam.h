// Threads that work on one thing together.
//
// The little that one run needs of a thread library: loading oneTBB and the libraries that
// it looks for took longer than a small image (docs/rationale/threads.md).
#ifndef NANOBRAGG_PARALLEL_THREADTEAM_H
#define NANOBRAGG_PARALLEL_THREADTEAM_H

#include <cstdint>
#include <functional>
#include <vector>

namespace nanobragg {

/// The thread that makes it, and helpers, which belong to the process: they are started when they
/// are first needed, sleep between teams, and end with the process. Different threads may have
/// teams at the same time; a helper is in one of them. A child that was forked starts helpers of
/// its own.
class ThreadTeam {
public:
  /// A team of `wanted` threads, or of fewer where the system refuses to start as many (`ulimit
  /// -u`, a container's limit, no memory for their stacks).
  explicit ThreadTeam(int wanted);
  ThreadTeam(const ThreadTeam &) = delete;
  ~ThreadTeam();

  /// Has `hook` called by each helper that is started from now on, as it begins.
  static void atStart(void (*hook)());

  int size() const { return 1 + int(helpers.size()); }

  /// Calls work(i, thread) once for each i in [0, count), begun in this order, each by whoever is
  /// free; threads are numbered from 0, the caller, to size() - 1. The first exception ends it,
  /// after the calls that have begun, and is thrown here.
  using Work = std::function<void(std::int64_t i, int thread)>;
  void forEach(std::int64_t count, const Work &work);

private:
  struct Helper;
  struct Pool;
  struct Job;
  std::vector<Helper *> helpers;
};

/// Processors that this process may use, at least 1.
int availableProcessors();

/// The number of threads for a request: 0 is one for each processor that this process may use.
inline int threadsOf(int requested) { return requested > 0 ? requested : availableProcessors(); }

} // namespace nanobragg
#endif
