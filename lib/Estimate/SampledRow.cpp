#include "lib/Estimate/SampledRow.h"

#include "lib/Experiment/NormalQuantiles.h"

#include <cmath>
#include <numbers>

namespace nanobragg {

constexpr double pi = std::numbers::pi;
/// Quantiles of so many are the distribution.
constexpr std::int64_t many = 32;

SampledRow::SampledRow(const Spread &spread, std::int64_t count) : spread(spread), count(count) {
  if (spread.spacing == Spacing::Normal && count < many)
    nodes = normalNodes(count);
}

double SampledRow::samples(double frequency) const {
  if (spread.spacing == Spacing::Normal) {
    if (nodes.empty())
      return distribution(frequency);
    double total = 0;
    for (const double node : nodes)
      total += std::cos(2 * pi * frequency * spread.width * node);
    return total / double(nodes.size());
  }
  if (count == 1)
    return 1;
  const double parts = double(spread.spacing == Spacing::Ends ? count - 1 : count);
  const double x = pi * frequency * spread.width / parts, sine = std::sin(x);
  // Where the sine is 0 all samples agree, up to a sign that they share.
  return std::fabs(sine) < 1e-9 ? 1 : std::sin(double(count) * x) / (double(count) * sine);
}

double SampledRow::distribution(double frequency) const {
  const double x = pi * frequency * spread.width;
  if (spread.spacing == Spacing::Normal)
    return std::exp(-2 * x * x);
  return std::fabs(x) < 1e-9 ? 1 : std::sin(x) / x;
}

} // namespace nanobragg
