#include "lib/Choose/FreshSeed.h"

#include <chrono>
#include <random>
#include <sys/random.h>
#include <unistd.h>

namespace nanobragg {

std::int64_t freshSeed() {
  const auto now = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  // A system without random numbers still has a clock and processes. (std::random_device takes 0.3
  // ms in a virtual machine, where it asks the processor what it is.)
  std::uint32_t drawn = 0;
  (void)!::getrandom(&drawn, sizeof drawn, GRND_NONBLOCK);
  std::seed_seq sequence{std::uint32_t(now), std::uint32_t(now >> 32), std::uint32_t(getpid()),
                         drawn};
  std::mt19937 mixed(sequence);
  return std::uniform_int_distribution<std::int64_t>(1, 2147483646)(mixed);
}

} // namespace nanobragg
