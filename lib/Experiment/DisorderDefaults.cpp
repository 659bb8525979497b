#include "lib/Experiment/DefaultsChooser.h"

#include "lib/Experiment/LaueGroup.h"
#include "lib/Experiment/NormalQuantiles.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace nanobragg {
namespace {

/// Directions on a spiral over half a sphere, as even as few directions can be (Ponti, J. Magn.
/// Reson. 138 (1999) 288, eq. A6).
Vec3 spiralAxis(std::int64_t i, std::int64_t count) {
  const double t = (double(i) + 0.5) / double(count);
  const double phi = std::sqrt(std::numbers::pi * double(count)) * std::asin(t);
  const double sine = std::sqrt(1 - t * t);
  return {sine * std::cos(phi), sine * std::sin(phi), t};
}

Vec3 inMetres(const Vec3 &angstroms) { return scaled(angstroms, units::angstrom); }

} // namespace

/// For M axes M angles, the middles of M parts of equal probability, so that the root mean square
/// is the spread's; each axis with one of them and its opposite.
void DefaultsChooser::chooseMosaicEllipsoid() {
  Crystal &crystal = experiment.crystal;
  // About an axis with a part along one that does not spread, nothing turns.
  if (std::ranges::count(*said(&O::mosaicAbc), 0.0) % 3 != 0)
    throw std::invalid_argument(
        "-mosaic_abc: a spread of 0 stops rotations about all axes but those "
        "across it; give a small one instead");
  const std::int64_t domains = mosaicDomains("-mosaic_abc");
  if (domains % 2 != 0)
    throw std::invalid_argument("-mosaic_domains: -mosaic_abc needs an even number, not " +
                                std::to_string(domains) +
                                ", because every rotation has its opposite");
  const std::int64_t axes = domains / 2;
  std::vector<double> angles;
  for (std::int64_t i = 0; i < axes; ++i)
    angles.push_back(quantileOfMagnitude((double(i) + 0.5) / double(axes)));
  // Which axis has which.
  for (std::int64_t i = axes; i-- > 1;) {
    const auto other = std::int64_t(double(complete.random.uniform(mosaicSeed)) * double(i + 1));
    std::swap(angles[std::size_t(i)], angles[std::size_t(std::min(other, i))]);
  }
  experiment.variant.mosaicity = Mosaicity::Ellipsoid;
  crystal.mosaicAxis.clear();
  crystal.mosaicUnitAngle.clear();
  for (std::int64_t i = 0; i < axes; ++i)
    for (const double sign : {1.0, -1.0}) {
      crystal.mosaicAxis.push_back(spiralAxis(i, axes));
      crystal.mosaicUnitAngle.push_back(sign * angles[std::size_t(i)]);
    }
  for (std::size_t i = 0; i < 3; ++i)
    crystal.mosaicAbc[i] = units::radians((*said(&O::mosaicAbc))[i]);
  crystal.mosaicSpread = *std::ranges::max_element(crystal.mosaicAbc);
}

void DefaultsChooser::chooseDiffuse() {
  Crystal &crystal = experiment.crystal;
  if (!said(&O::diffuseGamma) && !said(&O::diffuseSigma))
    return;
  if (!said(&O::diffuseGamma) || !said(&O::diffuseSigma))
    throw std::invalid_argument("-diffuse_gamma and -diffuse_sigma belong together: a correlation "
                                "length and a displacement; give both");
  experiment.variant.diffuse = true;
  crystal.diffuseGamma = inMetres(*said(&O::diffuseGamma));
  crystal.diffuseSigma = inMetres(*said(&O::diffuseSigma));
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
