#include "lib/Gemmi/FrenchWilson.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nanobragg::io {
namespace {

constexpr int intervals = 128;       // in Simpson's rule
constexpr double farthest = 8.5;     // sigmas of an intensity
constexpr std::size_t ofShell = 200; // reflections

/// Means of intensities over shells of resolution, as many in each.
class Shells {
public:
  struct One {
    double square, intensity, variance; ///< 1/d^2, intensity without multiplicity, of its error
  };

  explicit Shells(std::vector<One> measured) {
    std::sort(measured.begin(), measured.end(),
              [](const One &a, const One &b) { return a.square < b.square; });
    const std::size_t number = std::max<std::size_t>(measured.size() / ofShell, 1);
    for (std::size_t i = 0; i < number; ++i) {
      const auto begin = measured.begin() + std::ptrdiff_t(i * measured.size() / number);
      const auto end = measured.begin() + std::ptrdiff_t((i + 1) * measured.size() / number);
      if (begin == end)
        continue;
      One sum{};
      for (auto one = begin; one != end; ++one) {
        sum.square += one->square;
        sum.intensity += one->intensity;
        sum.variance += one->variance;
      }
      const double count = double(end - begin);
      // A mean that noise has brought below its own error is that error.
      const double least = std::sqrt(sum.variance);
      means.push_back({sum.square / count, std::max(sum.intensity, least) / count, 0});
    }
  }

  double at(double square) const {
    const auto next = std::find_if(means.begin(), means.end(),
                                   [&](const One &mean) { return mean.square > square; });
    if (means.empty())
      return std::numeric_limits<float>::min();
    if (next == means.begin())
      return means.front().intensity;
    if (next == means.end())
      return means.back().intensity;
    const One &before = *(next - 1);
    const double part = (square - before.square) / (next->square - before.square);
    return before.intensity + part * (next->intensity - before.intensity);
  }

private:
  std::vector<One> means;
};

} // namespace

ExpectedAmplitude frenchWilson(double intensity, double sigma, double expected, bool centric) {
  // In units of sigma for intensities and of its root for F, what is known of F after the
  // measurement is F^k exp(-(F^2 - h)^2 / 2), k = 0 for centric reflections and 1 for others.
  const double h = intensity / sigma - sigma / expected / (centric ? 2 : 1);
  const double from = std::sqrt(std::max(h - farthest, 0.0));
  const double to =
      h > 0 ? std::sqrt(h + farthest) : farthest / std::sqrt(std::hypot(h, farthest) - h);
  const double step = (to - from) / intervals;
  double sum = 0, first = 0, second = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double F = from + i * step, square = F * F;
    const double exponent = h > 0 ? (square - h) * (square - h) : square * (square - 2 * h);
    const double weight = (i == 0 || i == intervals ? 1 : 2 + 2 * (i % 2)) * (centric ? 1 : F) *
                          std::exp(-exponent / 2);
    sum += weight;
    first += weight * F;
    second += weight * F * F;
  }
  const double mean = first / sum, variance = std::max(second / sum - mean * mean, 0.0);
  return {mean * std::sqrt(sigma), std::sqrt(variance * sigma)};
}

void toAmplitudes(std::vector<UniqueReflection> &reflections, const gemmi::UnitCell &cell,
                  const gemmi::SpaceGroup &group) {
  const gemmi::GroupOps ops = group.operations();
  const auto indices = [](const UniqueReflection &r) {
    return gemmi::Op::Miller{{int(r.hkl[0]), int(r.hkl[1]), int(r.hkl[2])}};
  };
  std::vector<Shells::One> measured;
  for (const UniqueReflection &r : reflections) {
    if (ops.is_systematically_absent(indices(r)))
      continue;
    const double multiplicity = ops.epsilon_factor(indices(r));
    // Without anomalous signal the two of a pair are one measurement.
    const bool one = r.plus == r.minus && r.sigmas[0] == r.sigmas[1];
    const double I = (double(r.plus) + r.minus) / 2;
    const double sigma = one ? r.sigmas[0] : std::hypot(r.sigmas[0], r.sigmas[1]) / 2;
    measured.push_back(
        {cell.calculate_1_d2(indices(r)), I / multiplicity, std::pow(sigma / multiplicity, 2)});
  }
  const Shells shells(std::move(measured));
  for (UniqueReflection &r : reflections) {
    const auto hkl = indices(r);
    const bool absent = ops.is_systematically_absent(hkl), centric = ops.is_reflection_centric(hkl);
    const double expected = shells.at(cell.calculate_1_d2(hkl)) * ops.epsilon_factor(hkl);
    const auto amplitude = [&](float I, float sigma) {
      return absent ? 0.0f : float(frenchWilson(I, sigma, expected, centric).F);
    };
    r.plus = amplitude(r.plus, r.sigmas[0]);
    r.minus = amplitude(r.minus, r.sigmas[1]);
  }
}

} // namespace nanobragg::io
