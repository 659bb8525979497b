#include "lib/Program/PrecisionLimits.h"

#include "lib/Experiment/CellGeometry.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nanobragg {
namespace {

constexpr double mostOfFixedPoint = 1 << 19;

double shortestWavelength(const Experiment &experiment) {
  const Beam &beam = experiment.beam;
  double shortest = INFINITY;
  if (experiment.variant.sources == Sources::Listed)
    for (const double wavelength : beam.sourceWavelength)
      shortest =
          std::min(shortest, std::fabs(beam.wavelengthOffset + beam.wavelengthScale * wavelength));
  else
    for (const double shift : beam.unitDispersion)
      shortest = std::min(shortest, std::fabs(beam.wavelength * (1 + beam.dispersion * shift)));
  return shortest;
}

/// The index at back scattering along the longest edge.
double largestIndex(const Experiment &experiment) {
  const auto edges = edgesAndVolume(experiment).first;
  return 2 * *std::ranges::max_element(edges) / shortestWavelength(experiment);
}

/// F^2 L^2 of a sample at a peak.
double largestIntensity(const Experiment &experiment) {
  const Crystal &crystal = experiment.crystal;
  double amplitude = std::fabs(crystal.defaultF);
  if (crystal.grid)
    for (const double factor : crystal.grid->values)
      amplitude = std::max(amplitude, std::fabs(factor));
  for (const double cells : crystal.ncells)
    amplitude *= cells;
  return amplitude * amplitude;
}

} // namespace

bool exceedsLimits(Precision precision, const Experiment &experiment) {
  if (precision == Precision::F64)
    return false;
  const bool fixedPoint = precision == Precision::Mixed;
  return (fixedPoint && !(largestIndex(experiment) < mostOfFixedPoint)) ||
         !(largestIntensity(experiment) < std::numeric_limits<float>::max());
}

} // namespace nanobragg
