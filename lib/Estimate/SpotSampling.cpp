#include "lib/Estimate/SpotSampling.h"

#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace nanobragg {
namespace {

constexpr double pi = std::numbers::pi;

/// Mean square of the angle in the C program's law, of the largest squared.
constexpr double ballMeanSquare = 0.739;

} // namespace

SpotSampling::SpotSampling(const Experiment &experiment, const Report &report,
                           const DetectorReport &placed, const Vec3 &position)
    : experiment(experiment), ray(unit(position)) {
  q = scaled(difference(ray, experiment.beam.direction), 1 / report.wavelength);
  const auto perPixel = [&](const Vec3 &axis) {
    return scaled(difference(axis, scaled(ray, dot(axis, ray))),
                  experiment.detector.pixelSize / (report.wavelength * length(position)));
  };
  const Vec3 fast = perPixel(placed.fastAxis), slow = perPixel(placed.slowAxis);
  normal = unit(cross(fast, slow));
  const Vec3 alongFast = cross(slow, normal), alongSlow = cross(normal, fast);
  gridFast = scaled(alongFast, 1 / dot(fast, alongFast));
  gridSlow = scaled(alongSlow, 1 / dot(slow, alongSlow));
  chooseSpot(report);
  chooseShifts(report.wavelength);
}

/// Reciprocal vectors over the number of cells; of a matrix of widths its diagonal.
void SpotSampling::chooseSpot(const Report &report) {
  const Crystal &c = experiment.crystal;
  const Goniometer &g = experiment.goniometer;
  const bool isotropic =
      experiment.variant.spotMetric == Rule::C && rowOf(experiment.variant.shape).hasRadiusOfC;
  const double variance = rowOf(experiment.variant.shape).variance / c.fudge;
  for (std::size_t i = 0; i < 3; ++i) {
    Vec3 width{};
    if (isotropic)
      width[i] = 1 / (c.ncells[0] * c.ncells[1] * c.ncells[2]);
    else
      width =
          scaled(rotatedAbout(g.spindleAxis, g.phi0 + g.osc / 2, report.reciprocalCell.vectors[i]),
                 1 / c.ncells[i]);
    spot[i] = scaled(width, std::sqrt(variance) / units::angstrom);
  }
}

void SpotSampling::chooseShifts(double wavelength) {
  const Beam &beam = experiment.beam;
  const Vec3 vertical = unit(cross(beam.direction, beam.polarizationAxis));
  perUnit = {cross(experiment.goniometer.spindleAxis, q),
             scaled(cross(vertical, beam.direction), 1 / wavelength),
             scaled(cross(beam.polarizationAxis, beam.direction), 1 / wavelength), q};
  const Crystal &c = experiment.crystal;
  mosaicVariance = experiment.variant.mosaicity == Mosaicity::Ellipsoid
                       ? dot(c.mosaicAbc, c.mosaicAbc) / 3
                       : ballMeanSquare * c.mosaicSpread * c.mosaicSpread / 3;
}

/// As many independent draws. Draws of an ellipsoid are spread evenly, and their error falls with
/// their number.
double SpotSampling::domains(const SampleCounts &counts) const {
  const double number = double(counts.domains);
  return experiment.variant.mosaicity == Mosaicity::Ellipsoid
             ? std::max(number, number * number / 8)
             : number;
}

double SpotSampling::covariance(const Vec3 &x, const Vec3 &y) const {
  double total = 0;
  for (const Vec3 &axis : spot)
    total += dot(x, axis) * dot(y, axis);
  return total;
}

double SpotSampling::squaredTransform(const Vec3 &frequency) const {
  return std::exp(-4 * pi * pi * covariance(frequency, frequency));
}

double SpotSampling::squaredError(const SampleCounts &counts, const Spreads &spreads) const {
  const double across = covariance(normal, normal), sigma = std::sqrt(across);
  double extent = 4 * sigma + 6 * std::sqrt(mosaicVariance) * length(cross(q, normal));
  const std::int64_t numbers[] = {counts.phiSteps, counts.hdiv, counts.vdiv, counts.wavelengths};
  std::vector<std::pair<Vec3, SampledRow>> rows;
  for (std::size_t i = 0; i < 4; ++i) {
    Spread spread = spreads[i];
    if (!(spread.width > 0))
      continue;
    // A row that is much longer than the spot has as large an error as a part of it.
    const double reach = spread.extent() * std::fabs(dot(perUnit[i], normal));
    const double part = std::min(1.0, 30 * sigma / reach);
    spread.width *= part;
    extent += part * reach;
    rows.emplace_back(
        perUnit[i],
        SampledRow(spread, std::max<std::int64_t>(1, std::lround(double(numbers[i]) * part))));
  }
  const double reach = 0.45 / sigma; // terms beyond have a weight below 3e-4
  if (std::isnan(reach * extent))    // numbers beyond all physics
    return std::numeric_limits<double>::quiet_NaN();
  const auto points = std::int64_t(std::clamp(std::ceil(4 * reach * extent), 16.0, 500.0));
  constexpr std::int64_t farthest = 3;
  double wrong = 0, right = 0;
  for (std::int64_t i = 0; i <= farthest; ++i)
    for (std::int64_t j = -farthest; j <= farthest; ++j) {
      if (i == 0 && j < 0)
        continue; // the opposite of another
      const bool isIntegral = i == 0 && j == 0;
      const Vec3 inPlane = scaled(sum(scaled(gridFast, double(i)), scaled(gridSlow, double(j))),
                                  double(counts.oversample));
      const double middle = -covariance(normal, inPlane) / across;
      if (squaredTransform(sum(inPlane, scaled(normal, middle))) < 1e-4)
        continue;
      for (std::int64_t k = -points; k <= points; ++k) {
        const Vec3 frequency =
            sum(inPlane, scaled(normal, middle + reach * double(k) / double(points)));
        double samples = 1, distribution = 1;
        for (const auto &[shift, row] : rows) {
          samples *= row.samples(dot(frequency, shift));
          distribution *= row.distribution(dot(frequency, shift));
        }
        const Vec3 turned = cross(q, frequency);
        const double mosaic = std::exp(-4 * pi * pi * mosaicVariance * dot(turned, turned));
        const double weight = squaredTransform(frequency);
        const double drawn = samples * samples * (1 - mosaic) / domains(counts);
        if (isIntegral) {
          const double off = samples - distribution;
          wrong += weight * (drawn + mosaic * off * off);
          right += weight * mosaic * distribution * distribution;
        } else {
          wrong += 2 * weight * (drawn + mosaic * samples * samples);
        }
      }
    }
  return wrong / right;
}

} // namespace nanobragg
