#ifndef FIT_ADAM_H
#define FIT_ADAM_H

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

/// Adam with a learning rate for each number, which falls to zero over a number of steps.
class Adam {
public:
  Adam(int steps, std::vector<double> rates)
      : steps(steps), rates(std::move(rates)), mean(this->rates.size()), square(mean) {}

  void step(std::vector<double> &numbers, const std::vector<double> &gradient) {
    constexpr double decay1 = 0.8, decay2 = 0.95;
    const double shrink = 0.5 * (1 + std::cos(std::numbers::pi * taken / steps));
    ++taken;
    for (std::size_t v = 0; v != rates.size(); ++v) {
      mean[v] += (1 - decay1) * (gradient[v] - mean[v]);
      square[v] += (1 - decay2) * (gradient[v] * gradient[v] - square[v]);
      const double m = mean[v] / (1 - std::pow(decay1, taken));
      const double s = std::sqrt(square[v] / (1 - std::pow(decay2, taken)));
      if (s > 0)
        numbers[v] -= rates[v] * shrink * m / s;
    }
  }

private:
  int steps, taken = 0;
  std::vector<double> rates, mean, square;
};

#endif
