// Threads that work off tasks while others are added.
#ifndef NANOBRAGG_PARALLEL_TASKQUEUE_H
#define NANOBRAGG_PARALLEL_TASKQUEUE_H

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nanobragg {

/// Runs tasks in the order they are given, several at a time. So many wait at most that memory
/// holds them; add() then waits.
class TaskQueue {
public:
  /// Fewer threads where the system refuses to start as many; without any, add() runs the task.
  explicit TaskQueue(unsigned threads);
  TaskQueue(const TaskQueue &) = delete;
  ~TaskQueue(); ///< finishes what has begun, forgets the rest

  /// Throws what an earlier task threw.
  void add(std::function<void()> task);
  /// Waits for all. Throws what a task threw.
  void finish();

private:
  void work();
  void rethrow();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  std::size_t running = 0;
  bool stopping = false;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
};

} // namespace nanobragg
#endif
