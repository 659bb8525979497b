// The C program's random deviates.
//
// Park and Miller's minimal standard generator with a Bays-Durham shuffle, and the Gaussian and
// Poisson deviates built on it, rounded to the precision of Real where the program rounds: single
// in the C program, double in simtbx. One object is one shuffle table and one spare Gaussian: hand
// the same object to the misset, mosaic and noise streams, each with its own seed, and they share
// the table as they do in C.
#ifndef NANOBRAGG_EXPERIMENT_RAN1_H
#define NANOBRAGG_EXPERIMENT_RAN1_H

#include <array>
#include <cstdint>

namespace nanobragg {

template <typename Real>
class Ran1Of {
public:
  /// Uniform on (0, 1). A seed that is zero or negative reloads the table (with its negative, and
  /// 0 as 1), and so does the first draw of this object; `idum` is left positive.
  Real uniform(std::int64_t &idum);

  /// Mean 0, variance 1. Every second call consumes no uniform deviates.
  Real gaussian(std::int64_t &idum);

  /// Poisson with this mean; above a million a Gaussian of the same mean and variance, which is not
  /// a whole number. Means below 12 consume (deviate + 1) uniforms. NaN gives NaN.
  Real poisson(Real mean, std::int64_t &idum);

  /// Continues the shuffle table of another one; the spare Gaussian stays.
  void takeTable(const Ran1Of &other) {
    shuffle = other.shuffle;
    last = other.last;
  }

private:
  std::array<std::int64_t, 32> shuffle{};
  std::int64_t last = 0; ///< picks the next entry of the table; 0: not loaded
  Real spareGaussian = 0;
  bool hasSpare = false;
};

using Ran1 = Ran1Of<float>;

} // namespace nanobragg
#endif
