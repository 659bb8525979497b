// How the light of a spot is spread over pixels.
#ifndef NANOBRAGG_SPOTS_PIXELPARTS_H
#define NANOBRAGG_SPOTS_PIXELPARTS_H

#include <cstddef>
#include <span>

namespace nanobragg {

/// A normal distribution of light. Pixels; whole numbers are edges of pixels.
struct NormalSpot {
  double fast, slow;                   ///< its middle
  double fastFast, fastSlow, slowSlow; ///< its covariance, pixels^2
};

/// The parts of the light in the square of 2 half + 1 pixels a side about the pixel of its middle,
/// in the order [slow][fast]; those outside of the square are missing from their sum, which is 1 at
/// most. Along slow they are differences of error functions, along fast the rule of Gauss and
/// Legendre with four nodes a pixel, and more where the spot is narrower than a pixel; variances
/// along slow below 1e-4 are taken for that. result: (2 half + 1)^2 numbers.
void pixelParts(const NormalSpot &spot, std::size_t half, std::span<double> result);

} // namespace nanobragg
#endif
