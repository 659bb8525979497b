#include "nanobragg/Background.h"

#include "lib/Experiment/Experiment.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

/// A pixel's photons are rest + unit * F |F|, F its structure factor.
struct Pixel {
  double stol, photons, unit;

  double factor() const { return std::copysign(std::sqrt(std::fabs(photons) / unit), photons); }
};

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Images of the experiment with other tables for its first material.
class Material {
public:
  explicit Material(const Simulator &simulator)
      : simulator(simulator.copy()), factors(this->simulator.get("background_F")) {
    const Background &background = this->simulator.experiment().background;
    first = std::size_t(background.first.front());
    last = std::size_t(background.last.front());
    nodes.assign(background.stol.values.begin() + std::ptrdiff_t(first),
                 background.stol.values.begin() + std::ptrdiff_t(last) + 1);
  }

  /// The image where the structure factor is constant + slope * stol, stol in 1/A.
  std::vector<double> imageWith(double constant, double slope) {
    for (std::size_t i = first; i <= last; ++i)
      factors[i] = constant + slope * nodes[i - first] * 1e-10;
    simulator.set("background_F", factors);
    const std::span<const double> image = simulator.value();
    return {image.begin(), image.end()};
  }

  double lowest() const { return nodes.front() * 1e-10; }
  double highest() const { return nodes.back() * 1e-10; }

private:
  Simulator simulator;
  std::vector<double> factors, nodes;
  std::size_t first = 0, last = 0;
};

std::vector<Pixel> pixelsOf(const Simulator &simulator, std::span<const double> photons) {
  Material material(simulator);
  const std::vector<double> rest = material.imageWith(0, 0), one = material.imageWith(1, 0),
                            linear = material.imageWith(0, 1);
  const std::span<const std::uint8_t> rendered = simulator.rendered();
  constexpr double rounding = 1e-9;
  std::vector<Pixel> pixels;
  for (std::size_t i = 0; i != photons.size(); ++i) {
    const double unit = one[i] - rest[i];
    if (!rendered[i] || !std::isfinite(photons[i]) || !(unit > 0))
      continue;
    const double stol = std::sqrt(std::max(linear[i] - rest[i], 0.0) / unit);
    // Outside the table every stol looks like that of its edge.
    if (stol > material.lowest() * (1 + rounding) && stol < material.highest() * (1 - rounding))
      pixels.push_back({stol, photons[i] - rest[i], unit});
  }
  return pixels;
}

/// Photons of those that are not far off are added before the root is taken, which noise would
/// bias.
BackgroundPoint pointOf(const std::vector<Pixel> &pixels) {
  std::vector<double> factors, deviations;
  for (const Pixel &pixel : pixels)
    factors.push_back(pixel.factor());
  const double median = medianOf(factors);
  for (const double factor : factors)
    deviations.push_back(std::fabs(factor - median));
  constexpr double normal = 1.4826; // median deviation to standard deviation
  BackgroundPoint point;
  point.deviation = normal * medianOf(deviations);
  Pixel total{0, 0, 0};
  for (std::size_t i = 0; i != pixels.size(); ++i) {
    if (deviations[i] > 6 * point.deviation)
      continue;
    total.stol += pixels[i].stol;
    total.photons += pixels[i].photons;
    total.unit += pixels[i].unit;
    ++point.pixels;
  }
  point.stol = total.stol / double(point.pixels);
  point.factor = total.factor();
  return point;
}

} // namespace

std::vector<BackgroundPoint> extractBackground(const Simulator &simulator,
                                               std::span<const double> photons, std::size_t bins) {
  if (!simulator.experiment().variant.background)
    throw std::invalid_argument("the experiment has no background table; give -stol");
  if (photons.size() != simulator.pixels())
    throw std::invalid_argument("the image has " + std::to_string(photons.size()) +
                                " pixels and the experiment " + std::to_string(simulator.pixels()));
  if (bins == 0)
    throw std::invalid_argument("a table has at least one bin");
  const std::vector<Pixel> pixels = pixelsOf(simulator, photons);
  if (pixels.empty())
    return {};
  const auto [low, high] = std::ranges::minmax(pixels, {}, &Pixel::stol);
  std::vector<std::vector<Pixel>> parts(bins);
  for (const Pixel &pixel : pixels) {
    const double place = (pixel.stol - low.stol) / std::max(high.stol - low.stol, 1e-300);
    parts[std::min(std::size_t(place * double(bins)), bins - 1)].push_back(pixel);
  }
  std::vector<BackgroundPoint> table;
  for (const std::vector<Pixel> &part : parts)
    if (!part.empty())
      table.push_back(pointOf(part));
  return table;
}

} // namespace nanobragg
