// The photons of a spot.
#ifndef NANOBRAGG_SPOTS_SUMMATION_H
#define NANOBRAGG_SPOTS_SUMMATION_H

#include "lib/Formats/DialsExperiment.h"
#include "lib/Spots/Spot.h"

#include <span>

namespace nanobragg {

/// Pixels of one image, [panel][slow][fast] of equal frames.
struct SpotImage {
  std::span<const float> photons;
  const Detector &detector;
  bool background = false; ///< there is light beside that of spots
};

/// Sets intensity and variance: the sum over those pixels of the spot's box whose nearest node is
/// the spot's, at the orientation of the image that is nearest to the spot's own. With background
/// the median of the box's edge is subtracted from each pixel. `image`: as of predictSpots.
void sumSpot(Spot &spot, const io::DialsExperiment &image, const SpotImage &pixels);

/// Sets background, variance and peak of a Gaussian spot whose photons are known, by the pixels of
/// its box. Where it leaves its panel or the region, or is partly masked, photons and centroid
/// become those of its light on pixels that count. `covariance`: fast-fast, fast-slow and
/// slow-slow, pixels squared.
void lookAtSpot(Spot &spot, const std::array<double, 3> &covariance, const SpotImage &pixels);

} // namespace nanobragg
#endif
