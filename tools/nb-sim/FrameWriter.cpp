#include "tools/nb-sim/FrameWriter.h"

#include <algorithm>
#include <utility>

namespace nanobragg {

FrameWriter::FrameWriter(unsigned count) {
  for (unsigned i = 0; i < std::max(count, 1u); ++i)
    threads.emplace_back([this] { work(); });
}

FrameWriter::~FrameWriter() {
  {
    const std::lock_guard lock(mutex);
    waiting.clear();
    stopping = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void FrameWriter::rethrow() {
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
}

void FrameWriter::add(std::function<void()> task) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return failure || waiting.size() < threads.size(); });
  rethrow();
  waiting.push_back(std::move(task));
  changed.notify_all();
}

void FrameWriter::finish() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return failure || (waiting.empty() && running == 0); });
  rethrow();
}

void FrameWriter::work() {
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
