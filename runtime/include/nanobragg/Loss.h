// One number from an image.
#ifndef NANOBRAGG_LOSS_H
#define NANOBRAGG_LOSS_H

#include "nanobragg/Engine.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

/// A loss that is a sum over pixels, of which each contributes what its own photons decide:
///   linear       w I
///   chi-square   ((I - data) / sigma)^2
/// Pixels that are not rendered, or are left out by the mask, contribute nothing. All arrays are
/// [panel][slow][fast].
class NB_CPP_API Loss {
public:
  /// All photons.
  static Loss sum();
  /// Weights of the pixels: any loss to first order, when they are its derivatives.
  static Loss linear(std::vector<double> weights);
  /// `sigma` has one number for all pixels or one per pixel; a pixel where it is not positive and
  /// finite, or where the data are not finite, is left out. `mask`: 0 leaves a pixel out; empty:
  /// none.
  static Loss chiSquare(std::vector<double> data, std::vector<double> sigma,
                        std::vector<std::uint8_t> mask = {});

  /// The loss of an image, and into `cotangent`, which has as many pixels or none, its derivative by
  /// each of them. `rendered` says which pixels are. Added up in a fixed order. Throws
  /// std::invalid_argument when the arrays do not have the image's size.
  double evaluate(std::span<const double> image, std::span<const std::uint8_t> rendered,
                  std::span<double> cotangent) const;

  /// Pixels that contribute.
  std::int64_t pixels(std::span<const std::uint8_t> rendered) const;

  /// Second derivative by pixel `index`.
  double curvature(std::size_t index) const;

private:
  bool counts(std::size_t index) const;
  double sigmaOf(std::size_t index) const { return sigma[sigma.size() == 1 ? 0 : index]; }

  std::vector<double> weights, data, sigma;
  std::vector<std::uint8_t> mask;
};

} // namespace nanobragg
#endif
