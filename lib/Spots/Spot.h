// A spot of an image, as the model has it.
#ifndef NANOBRAGG_SPOTS_SPOT_H
#define NANOBRAGG_SPOTS_SPOT_H

#include "lib/Experiment/Experiment.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace nanobragg {

/// Where a reflection meets the detector on one image. Lengths and the frame are those of the
/// io::DialsExperiment that it was predicted from.
struct Spot {
  std::array<std::int32_t, 3> hkl{};
  std::size_t panel = 0;
  Vec3 ray{}; ///< s1, 1/A: from the centre of the Ewald sphere to the reflection
  /// rad, rotation at which the node crosses the Ewald sphere; it may lie outside of the image's
  /// range, from which the spot's edge is seen then. 0 of a still.
  double phi = 0;
  /// rad, between them the node comes nearer to the sphere as it comes nearer to `phi`.
  std::array<double, 2> about{};
  double wavelength = 0;         ///< A, of a continuous spectrum; where it is not known, 0
  double missing = 0;            ///< rad, of a still: rotation that the node needs to the sphere
  bool entering = false;         ///< from outside of the Ewald sphere into it
  std::array<double, 2> mm{};    ///< on the panel's plane, along fast and slow
  std::array<double, 2> pixel{}; ///< where it is detected; whole numbers are edges of pixels
  /// Pixels that it reaches: fast from, to; slow from, to. The ends are not part of it.
  std::array<std::int64_t, 4> box{};
  std::array<double, 2> centroid{}; ///< where its photons are in the mean, pixels, see sumSpot
  double intensity = 0;             ///< photons, see sumSpot
  double variance = 0; ///< variance of the photons that would be counted, background included
  double peak = 0, background = 0; ///< photons of the brightest of its pixels, and beside the spot
};

/// How far a reflection reaches beyond its node.
struct SpotSize {
  double node = 0;       ///< 1/A, where the lattice factor squared is about 1 % of its peak
  double mosaic = 0;     ///< rad, largest rotation of a domain
  double divergence = 0; ///< rad, largest angle of a source with the beam
  double bandwidth = 0;  ///< largest difference of a source's wavelength, as a fraction
  bool normal = false;   ///< these are of normal distributions, which add up as squares
};

} // namespace nanobragg
#endif
