#include "runtime/processor/LargeStack.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

constexpr std::size_t enough = std::size_t(4) << 20, large = std::size_t(64) << 20;

/// The rest of this thread's stack; for the first thread, as far as it may still grow.
std::size_t stackLeft() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
    return 0;
  void *lowest = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &size);
  ::pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto end = reinterpret_cast<std::uintptr_t>(lowest);
  return here > end ? here - end : 0;
}

struct Task {
  const std::function<void()> &work;
  std::exception_ptr thrown{};

  static void *run(void *self) {
    Task &task = *static_cast<Task *>(self);
    try {
      task.work();
    } catch (...) {
      task.thrown = std::current_exception();
    }
    return nullptr;
  }
};

} // namespace

void onLargeStack(const std::function<void()> &work) {
  if (stackLeft() >= enough)
    return work();
  Task task{work};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, large);
  pthread_t thread;
  const int error = ::pthread_create(&thread, &attributes, Task::run, &task);
  ::pthread_attr_destroy(&attributes);
  if (error != 0)
    throw std::runtime_error("the stack is too small to compile with, and a thread with a larger "
                             "one cannot be started (" +
                             std::string(std::strerror(error)) + "); raise it with ulimit -s 8192");
  ::pthread_join(thread, nullptr);
  if (task.thrown)
    std::rethrow_exception(task.thrown);
}

} // namespace nanobragg
