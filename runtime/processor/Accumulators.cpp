#include "runtime/processor/Accumulators.h"

#include <bit>
#include <cstring>

namespace nanobragg {
namespace {

/// Adds and zeroes what was added. A cache line of zeros is only read: in a sum that began with +0
/// it changes no bit.
void moveInto(double *sum, double *part, std::int64_t count) {
  constexpr std::int64_t line = 8;
  const auto add = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i != to; ++i) {
      sum[i] += part[i];
      part[i] = 0;
    }
  };
  const std::int64_t whole = count / line * line;
  for (std::int64_t i = 0; i != whole; i += line) {
    std::uint64_t any = 0;
    for (std::int64_t j = 0; j != line; ++j)
      any |= std::bit_cast<std::uint64_t>(part[i + j]);
    if (any != 0)
      add(i, i + line);
  }
  add(whole, count);
}

} // namespace

void *Accumulators::begin(std::int64_t part) {
  if (!folded) {
    if (memory.count() != 0)
      std::memset(memory[part], 0, std::size_t(size));
    return memory[part];
  }
  // Later parts find the second one as moveInto has left it.
  if (part < 2)
    std::memset(memory[part], 0, std::size_t(size));
  return memory[part == 0 ? 0 : 1];
}

void Accumulators::end(std::int64_t part) {
  if (folded && part != 0)
    moveInto(static_cast<double *>(memory[0]), static_cast<double *>(memory[1]),
             size / std::int64_t(sizeof(double)));
}

} // namespace nanobragg
