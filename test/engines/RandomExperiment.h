// Seeded experiments of any variant.
#ifndef NB_TEST_ENGINES_RANDOMEXPERIMENT_H
#define NB_TEST_ENGINES_RANDOMEXPERIMENT_H

#include "lib/Experiment/Experiment.h"

#include <cstdint>
#include <random>

namespace nanobragg {

/// The same numbers on every machine, which the distributions of the standard library do not
/// promise.
class Draws {
public:
  explicit Draws(std::uint64_t seed) : engine(seed) {}

  double uniform(double low, double high) {
    return low + (high - low) * (double(engine() >> 11) * 0x1p-53);
  }
  /// Both ends included.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + std::int64_t(engine() % std::uint64_t(high - low + 1));
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }
  template <typename Choice>
  Choice oneOf(Choice last) {
    return Choice(integer(0, std::int64_t(last)));
  }

private:
  std::mt19937_64 engine;
};

/// Every choice of a variant is equally likely to take each of its values. Images are f64.
ProgramVariant randomVariant(Draws &draws);

/// Numbers for a variant: a small detector close to a small crystal with large angles between
/// everything, so that every term of the formulas counts.
Experiment randomExperiment(const ProgramVariant &variant, Draws &draws);

} // namespace nanobragg
#endif
