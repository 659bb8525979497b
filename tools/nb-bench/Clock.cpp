#include "tools/nb-bench/Clock.h"

#include "runtime/processor/Stopwatch.h"

#include <algorithm>
#include <cstdint>

namespace nanobragg {

std::optional<double> measureClock() {
#ifdef __x86_64__
  constexpr int rounds = 8000, chained = 16, latency = 3;
  double best = 0;
  for (int attempt = 0; attempt != 8; ++attempt) { // others' time slices only take time
    std::uint64_t product = 1, one = 1;
    const Stopwatch watch;
    for (int i = 0; i != rounds; ++i)
      asm volatile(".rept 16\n imul %1, %0\n .endr" : "+r"(product) : "r"(one));
    best = std::max(best, rounds * double(chained) * latency / watch.seconds() * 1e-9);
  }
  return best;
#else
  return std::nullopt;
#endif
}

} // namespace nanobragg
