#include "lib/Compiler/Lab/Paired.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace mlir::nb;

namespace {

/// Times with what a shared machine does to them: drift, and now and then twice as long.
struct Machine {
  std::mt19937 random{7};

  std::pair<std::vector<double>, std::vector<double>> measure(unsigned rounds, double ratio) {
    std::normal_distribution<double> noise(0, 0.02);
    std::bernoulli_distribution disturbed(0.1);
    std::vector<double> one, other;
    double speed = 1;
    for (unsigned i = 0; i != rounds; ++i) {
      speed *= 1 + noise(random);
      const auto time = [&] { return speed * (1 + noise(random)) * (disturbed(random) ? 2 : 1); };
      one.push_back(ratio * time());
      other.push_back(time());
    }
    return {one, other};
  }
};

TEST(Paired, TheIntervalHoldsTheRatio) {
  Machine machine;
  for (unsigned rounds : {6u, 9u, 15u}) {
    int missed = 0, gains = 0;
    constexpr int trials = 4000;
    for (int i = 0; i != trials; ++i) {
      const auto [one, other] = machine.measure(rounds, 1);
      const Ratio ratio = pairedRatio(one, other);
      EXPECT_LE(ratio.least, ratio.median);
      EXPECT_LE(ratio.median, ratio.most);
      missed += ratio.most < 1 || ratio.least > 1;
      gains += ratio.isGain(0);
    }
    EXPECT_LE(missed, trials * 0.06) << rounds;
    EXPECT_LE(gains, trials * 0.035) << rounds;
  }
}

TEST(Paired, AGainIsSeen) {
  Machine machine;
  int seen = 0;
  for (int i = 0; i != 200; ++i) {
    const auto [one, other] = machine.measure(15, 0.9);
    seen += pairedRatio(one, other).isGain(0.02);
  }
  EXPECT_GE(seen, 190);
}

} // namespace
