// How far the photons of a spot at one place of the detector are off because of sampling.
#ifndef NANOBRAGG_ESTIMATE_SPOTSAMPLING_H
#define NANOBRAGG_ESTIMATE_SPOTSAMPLING_H

#include "lib/Estimate/SampledRow.h"
#include "lib/Estimate/SamplingError.h"

#include <array>

namespace nanobragg {

/// The spreads of phi, both divergences (rad) and the relative wavelength.
using Spreads = std::array<Spread, 4>;

/// The sum over a grid of sub-pixels differs from the integral by the Fourier components of the
/// spot, which is taken for Gaussian, at the reciprocal vectors of the grid (Poisson). At each the
/// average over steps, sources and domains acts as the Fourier transform of their shifts. Across
/// the Ewald sphere, where there is no grid, these are held against what they stand for. Nodes are
/// anywhere, so that squares of all frequencies add up.
class SpotSampling {
public:
  /// At a position of the detector (m) whose axes are those of `placed`.
  SpotSampling(const Experiment &experiment, const Report &report, const DetectorReport &placed,
               const Vec3 &position);

  /// The mean square of the relative error; NaN where numbers are too large or small to say.
  double squaredError(const SampleCounts &counts, const Spreads &spreads) const;

private:
  void chooseSpot(const Report &report);
  void chooseShifts(double wavelength);
  double domains(const SampleCounts &counts) const;
  /// Covariance of the spot between two frequencies, or two directions.
  double covariance(const Vec3 &x, const Vec3 &y) const;
  double squaredTransform(const Vec3 &frequency) const;

  const Experiment &experiment;
  Vec3 ray, q{}, normal{};       ///< q in 1/m; the normal is that of the Ewald sphere
  Vec3 gridFast{}, gridSlow{};   ///< m, reciprocal to what a pixel moves q
  std::array<Vec3, 3> spot{};    ///< 1/m, standard deviations along a*, b* and c*
  std::array<Vec3, 4> perUnit{}; ///< 1/m, how far a unit of each spread moves q
  double mosaicVariance = 0;     ///< rad^2, about each axis
};

} // namespace nanobragg
#endif
