#include "lib/Choose/AverageNodes.h"

#include <cmath>
#include <numbers>

/// By Newton's method on the Legendre polynomial.
void nanobragg::chooseNodes(std::int64_t count, Average &average) {
  average.nodes.clear();
  average.weights.clear();
  for (std::int64_t i = 0; i != count; ++i) {
    double x = -std::cos(std::numbers::pi * (double(i) + 0.75) / (double(count) + 0.5));
    double slope = 1;
    for (int step = 0; step != 20; ++step) {
      double before = 0, value = 1;
      for (std::int64_t n = 1; n <= count; ++n) {
        const double next = (double(2 * n - 1) * x * value - double(n - 1) * before) / double(n);
        before = value;
        value = next;
      }
      slope = double(count) * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    average.nodes.push_back(x / 2);
    average.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
}
