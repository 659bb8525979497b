// The shapes of crystals, a row each.
#ifndef NANOBRAGG_EXPERIMENT_CRYSTALSHAPE_H
#define NANOBRAGG_EXPERIMENT_CRYSTALSHAPE_H

#include "lib/Experiment/PhysicalConstants.h"

#include <cmath>
#include <cstddef>
#include <iterator>

namespace nanobragg {

/// In the order of NB_Shape of the dialect. GaussMatrix: Gaussian spots of any orientation, by a
/// symmetric matrix of widths.
enum class CrystalShape { Square, Round, Gauss, Tophat, GaussMatrix };

/// How the lattice factor falls off. Grating: with each axis of its own, by whole cells. The others
/// are functions of the squared distance from the reflection.
enum class SpotProfile { Grating, Ball, Gaussian, Step };

struct CrystalShapeRow {
  CrystalShape shape;
  const char *word;    ///< in programs, in the names of kernels, in Python and in nb-bench
  const char *flags;   ///< spellings; null: no flag of its own chooses it
  const char *meaning; ///< in the help of the flag
  const char *name;    ///< on the console
  SpotProfile profile;
  /// The factor of r2 = sum (delta N)^2, with the fudge factor in it, for the profile; 0: grating.
  double distanceFactor;
  /// Mean square along each axis of what the squared factor spreads over, in units of an index over
  /// the number of cells: by its curvature at the reflection, of a step as it is.
  double variance;
  bool hasRadiusOfC;  ///< the C program has another r2
  bool hasMatrix;     ///< has a matrix of widths
  int mostMixedCells; ///< cells along an axis, up to which `mixed` keeps its bound; 0: it has none
};

/// Without std::numbers, which C++17 lacks: lib/Gemmi includes this.
inline constexpr double piSquared = M_PI * M_PI;

inline constexpr CrystalShapeRow crystalShapes[] = {
    {CrystalShape::Square, "square", "-square_xtal", "parallelepiped crystal", "parallelpiped",
     SpotProfile::Grating, 0, 3 / (2 * piSquared), false, false, 128},
    {CrystalShape::Round, "round", "-round_xtal", "ellipsoidal crystal", "ellipsoidal",
     SpotProfile::Ball, piSquared, 5 / (2 * piSquared), false, false, 128},
    {CrystalShape::Gauss, "gauss", "-gauss_xtal", "Gaussian spots, no fringes between them",
     "gaussian", SpotProfile::Gaussian, -1 / constants::gaussWidth, constants::gaussWidth / 4, true,
     false, 500},
    {CrystalShape::Tophat, "tophat", "-tophat_spots -binary_spots",
     "spots of constant intensity, nothing between them", "tophat-spot", SpotProfile::Step, 1,
     constants::tophatEdge / 5, true, false, 0},
    {CrystalShape::GaussMatrix, "gauss_matrix", nullptr, nullptr,
     "gaussian, by a matrix of widths,", SpotProfile::Gaussian, -1 / constants::gaussWidth,
     constants::gaussWidth / 4, false, true, 500},
};

constexpr const CrystalShapeRow &rowOf(CrystalShape shape) {
  return crystalShapes[std::size_t(shape)];
}

static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(crystalShapes); ++i)
        if (std::size_t(crystalShapes[i].shape) != i)
          return false;
      return true;
    }(),
    "rows stand in the order of the enumerators");

} // namespace nanobragg
#endif
