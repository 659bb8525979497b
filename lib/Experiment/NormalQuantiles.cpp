#include "lib/Experiment/NormalQuantiles.h"

#include <cmath>
#include <numbers>

namespace nanobragg {

// By Newton's method, which converges from 0 since erf bends down.
double quantileOfMagnitude(double p) {
  double x = 0;
  for (int i = 0; i < 100; ++i) {
    const double step = (p - std::erf(x / std::numbers::sqrt2)) /
                        (std::sqrt(2 / std::numbers::pi) * std::exp(-x * x / 2));
    x += step;
    if (std::fabs(step) < 1e-15 * (1 + x))
      break;
  }
  return x;
}

std::vector<double> normalNodes(std::int64_t count) {
  std::vector<double> nodes;
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double p = 2 * (double(i) + 0.5) / double(count) - 1; // within, and on which side
    nodes.push_back(std::copysign(quantileOfMagnitude(std::fabs(p)), p));
    squares += nodes.back() * nodes.back();
  }
  for (double &node : nodes)
    node = squares > 0 ? node / std::sqrt(squares / double(count)) : 0;
  return nodes;
}

} // namespace nanobragg
