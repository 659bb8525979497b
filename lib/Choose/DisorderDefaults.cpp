#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/LaueGroup.h"
#include "lib/Experiment/NormalQuantiles.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace nanobragg {
namespace {

/// The length r below which three normal deviates together are with a probability p, 0 < p < 1: by
/// halving, of erf(r / sqrt 2) - sqrt(2 / pi) r exp(-r^2 / 2) = p.
double quantileOfLength(double p) {
  double low = 0, high = 10;
  for (int i = 0; i < 64; ++i) {
    const double r = (low + high) / 2;
    const double below = std::erf(r / std::numbers::sqrt2) -
                         std::sqrt(2 / std::numbers::pi) * r * std::exp(-r * r / 2);
    (below < p ? low : high) = r;
  }
  return (low + high) / 2;
}

/// Directions on a spiral over half a sphere, as even as few directions can be (Ponti, J. Magn.
/// Reson. 138 (1999) 288, eq. A6).
Vec3 spiralAxis(std::int64_t i, std::int64_t count) {
  const double t = (double(i) + 0.5) / double(count);
  const double phi = std::sqrt(std::numbers::pi * double(count)) * std::asin(t);
  const double sine = std::sqrt(1 - t * t);
  return {sine * std::cos(phi), sine * std::sin(phi), t};
}

/// Makes the mean products of the vectors' components those of the unit matrix, by the inverse of
/// the Cholesky factor of what they are.
void standardize(std::vector<Vec3> &vectors) {
  std::array<Vec3, 3> mean{};
  for (const Vec3 &x : vectors)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        mean[i][j] += x[i] * x[j] / double(vectors.size());
  std::array<Vec3, 3> factor{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = mean[i][j];
      for (std::size_t k = 0; k < j; ++k)
        rest -= factor[i][k] * factor[j][k];
      factor[i][j] = i == j ? std::sqrt(rest) : rest / factor[j][j];
    }
  for (Vec3 &x : vectors)
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < i; ++k)
        x[i] -= factor[i][k] * x[k];
      x[i] /= factor[i][i];
    }
}

} // namespace

/// Rotation vectors of a normal distribution: for M axes M lengths, the middles of M parts of equal
/// probability, scaled so that their standard deviations are exact; each vector with its opposite.
void DefaultsChooser::chooseMosaicEllipsoid() {
  Crystal &crystal = experiment.crystal;
  const std::int64_t domains = mosaicDomains("-mosaic_abc");
  if (domains % 2 != 0 || domains < 6)
    throw std::invalid_argument(
        "-mosaic_domains: -mosaic_abc needs an even number of at least 6, not " +
        std::to_string(domains) +
        ", because every rotation has its opposite and there are three standard deviations");
  const std::int64_t axes = domains / 2;
  std::vector<double> lengths;
  for (std::int64_t i = 0; i < axes; ++i)
    lengths.push_back(quantileOfLength((double(i) + 0.5) / double(axes)));
  // Which axis has which.
  for (std::int64_t i = axes; i-- > 1;) {
    const auto other = std::int64_t(double(complete.random.uniform(mosaicSeed)) * double(i + 1));
    std::swap(lengths[std::size_t(i)], lengths[std::size_t(std::min(other, i))]);
  }
  experiment.variant.mosaicity = Mosaicity::Ellipsoid;
  crystal.mosaicAxis.clear();
  crystal.mosaicUnitAngle.clear();
  std::vector<Vec3> rotations;
  for (std::int64_t i = 0; i < axes; ++i)
    rotations.push_back(scaled(spiralAxis(i, axes), lengths[std::size_t(i)]));
  standardize(rotations);
  for (const Vec3 &rotation : rotations)
    for (const double sign : {1.0, -1.0}) {
      crystal.mosaicAxis.push_back(unit(rotation));
      crystal.mosaicUnitAngle.push_back(sign * length(rotation));
    }
  crystal.mosaicAbc = *said(&O::mosaicAbc);
}

void DefaultsChooser::chooseDiffuse() {
  Crystal &crystal = experiment.crystal;
  if (!said(&O::diffuseGamma) && !said(&O::diffuseSigma))
    return;
  if (!said(&O::diffuseGamma) || !said(&O::diffuseSigma))
    throw std::invalid_argument("-diffuse_gamma and -diffuse_sigma belong together: a correlation "
                                "length and a displacement; give both");
  experiment.variant.diffuse = true;
  crystal.diffuseGamma = *said(&O::diffuseGamma);
  crystal.diffuseSigma = *said(&O::diffuseSigma);
  crystal.symmetryH.clear();
  crystal.symmetryK.clear();
  crystal.symmetryL.clear();
  const auto &reciprocal = report.reciprocalCell.vectors;
  double worst = 0;
  for (const IndexRotation &m : rotationsOfLaueGroup(int(said(&O::laueGroup).value_or(1)))) {
    crystal.symmetryH.push_back({double(m[0]), double(m[1]), double(m[2])});
    crystal.symmetryK.push_back({double(m[3]), double(m[4]), double(m[5])});
    crystal.symmetryL.push_back({double(m[6]), double(m[7]), double(m[8])});
    // The reflections h, k and l = 1 have to keep their lengths.
    for (std::size_t i = 0; i < 3; ++i) {
      Vec3 turned{};
      for (std::size_t j = 0; j < 3; ++j)
        turned = sum(turned, scaled(reciprocal[j], double(m[3 * j + i])));
      const double before = length(reciprocal[i]);
      worst = std::max(worst, std::fabs(length(turned) - before) / before);
    }
  }
  if (worst > 0.01)
    warn("-laue_group " + std::to_string(said(&O::laueGroup).value_or(1)) +
         ": the cell does not have this symmetry, to which diffuse scattering is averaged");
}

} // namespace nanobragg
