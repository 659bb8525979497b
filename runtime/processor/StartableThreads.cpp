#include "runtime/processor/StartableThreads.h"

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace nanobragg {

int startableThreads(int wanted) {
  static std::atomic<int> reached{1};
  if (wanted <= reached)
    return wanted;
  // All at once: one that has ended makes room for the next.
  std::atomic<bool> end{false};
  std::vector<std::thread> others;
  others.reserve(std::size_t(wanted - 1));
  try {
    while (int(others.size()) + 1 < wanted)
      others.emplace_back([&end] { end.wait(false); });
  } catch (const std::system_error &) {
  }
  end = true;
  end.notify_all();
  for (std::thread &thread : others)
    thread.join();
  const int started = int(others.size()) + 1;
  if (started == wanted)
    for (int before = reached; before < wanted && !reached.compare_exchange_weak(before, wanted);) {
    }
  return started;
}

} // namespace nanobragg
