// Random numbers by their place.
//
// Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC11 (2011). A function from a counter and a key to 128 random bits, without
// any state: the number of pixel i is the same whoever draws it, and in whatever order.
#ifndef NANOBRAGG_EXPERIMENT_PHILOX_H
#define NANOBRAGG_EXPERIMENT_PHILOX_H

#include <array>
#include <cstdint>

namespace nanobragg {

struct Philox {
  using Words = std::array<std::uint32_t, 4>;

  std::uint32_t key0 = 0, key1 = 0;

  [[gnu::always_inline]] Words operator()(Words counter) const {
    std::uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    std::uint32_t k0 = key0, k1 = key1;
    for (int round = 0; round != 10; ++round) {
      const std::uint64_t ac = std::uint64_t(0xD2511F53) * a, bd = std::uint64_t(0xCD9E8D57) * c;
      a = std::uint32_t(bd >> 32) ^ b ^ k0;
      b = std::uint32_t(bd);
      c = std::uint32_t(ac >> 32) ^ d ^ k1;
      d = std::uint32_t(ac);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return {a, b, c, d};
  }
};

/// Two words as a number above 0 and below 1, with 52 bits.
[[gnu::always_inline]] inline double uniformOf(std::uint32_t high, std::uint32_t low) {
  return double(high) * 0x1p-32 + (double(low >> 12) + 0.5) * 0x1p-52;
}

} // namespace nanobragg
#endif
