#include "lib/Parallel/TaskQueue.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace nanobragg {

TaskQueue::TaskQueue(unsigned count) {
  try {
    for (unsigned i = 0; i < std::max(count, 1u); ++i)
      threads.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
    // A limit of the system's or a container's: those that have started do the work.
  }
}

TaskQueue::~TaskQueue() {
  {
    const std::lock_guard lock(mutex);
    waiting.clear();
    stopping = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void TaskQueue::rethrow() {
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
}

void TaskQueue::add(std::function<void()> task) {
  if (threads.empty())
    return task();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return failure || waiting.size() < threads.size(); });
  rethrow();
  waiting.push_back(std::move(task));
  changed.notify_all();
}

void TaskQueue::finish() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return failure || (waiting.empty() && running == 0); });
  rethrow();
}

void TaskQueue::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopping || !waiting.empty(); });
    if (waiting.empty())
      return;
    const std::function<void()> task = std::move(waiting.front());
    waiting.pop_front();
    ++running;
    changed.notify_all();
    lock.unlock();
    std::exception_ptr thrown;
    try {
      task();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    --running;
    if (thrown && !failure)
      failure = thrown;
    changed.notify_all();
  }
}

} // namespace nanobragg
