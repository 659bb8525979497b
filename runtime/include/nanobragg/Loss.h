// One number from an image.
#ifndef NANOBRAGG_LOSS_H
#define NANOBRAGG_LOSS_H

#include "nanobragg/Engine.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg {

/// A loss is a sum over pixels. Each contributes a number that its own photons determine:
///   linear:       w I.
///   chi-square:   ((I - data) / sigma)^2.
///   poisson:      m - n log m + log n!, of n photons, m expected.
///   gaussian:     (log(2 pi V) + (n - m)^2 / V) / 2, with V = m + R^2, R the read-out noise.
/// The last two are minus the logarithm of the likelihood. In them m = (I + background) / gain,
/// n = data / gain, and R is divided by the gain, too: in ADU per photon, 1 for images of photons.
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

  /// The numbers beside the image that the loss itself is a function of.
  struct Noise {
    std::vector<double> background{0.0}; ///< added to the image: one number, or one for each pixel
    double readOut = 0;            ///< for gaussian(): standard deviation, in units of the image
    std::vector<double> gain{1.0}; ///< one number, or one for each pixel; not above 0: left out
  };
  /// Where m is 0 and n is not, the loss is infinite: give a background. Data below 0 are left out.
  static Loss poisson(std::vector<double> data, Noise noise, std::vector<std::uint8_t> mask = {});
  /// A pixel with V not above 0 is left out.
  static Loss gaussian(std::vector<double> data, Noise noise, std::vector<std::uint8_t> mask = {});

  /// Derivatives of the loss with respect to a number that is added to the background of all
  /// pixels, and to the read-out noise.
  struct Slopes {
    double background = 0, readOut = 0;
  };
  bool hasBackground() const { return kind == Kind::Poisson || kind == Kind::Gaussian; }
  bool hasReadOut() const { return kind == Kind::Gaussian; }

  /// State kept from one evaluation to the next: where pixels were dark and are so again, nothing
  /// is computed.
  class Memory;

  /// The loss of an image, and into `cotangent`, which has as many pixels or none, its derivative
  /// with respect to each of them. `rendered` says which pixels are. Added up in a fixed order.
  /// With `memory`, the cotangent has to be as the evaluation before left it, and `rendered` the
  /// same. Throws std::invalid_argument when the arrays do not have the image's size.
  double evaluate(std::span<const double> image, std::span<const std::uint8_t> rendered,
                  std::span<double> cotangent, Slopes *slopes = nullptr,
                  Memory *memory = nullptr) const;

  /// Pixels that contribute.
  std::int64_t pixels(std::span<const std::uint8_t> rendered) const;

  /// Second derivative with respect to pixel `index` of an image.
  double curvature(std::span<const double> image, std::size_t index) const;

private:
  enum class Kind { Linear, ChiSquare, Poisson, Gaussian };
  /// The share of a pixel, with derivatives with respect to the pixel (first and second) and the
  /// read-out.
  struct Term {
    double value = 0, slope = 0, curvature = 0, byReadOut = 0;
  };

  struct Contribution {
    bool counts = false;
    Term term;
  };
  /// The sum over a few pixels.
  struct Part {
    double value = 0;
    Slopes slopes;
  };
  struct Pixels {
    std::span<const double> image;
    std::span<const std::uint8_t> rendered;
    std::span<double> cotangent;
  };
  /// The sum of what contribute(pixel's value, pixel's number, is it rendered) gives; its slopes
  /// into the cotangent. `isNoisy`: those by background and read-out, too.
  template <bool isNoisy, typename Contribute>
  double addUp(const Pixels &pixels, Slopes *slopes, Memory *memory, Contribute contribute) const;
  template <bool isNoisy, typename Contribute>
  Part addUpPart(const double *pixels, const std::uint8_t *isRendered, double *cotangent,
                 std::size_t first, std::size_t count, Contribute contribute) const;
  static Loss ofCounts(Kind kind, std::vector<double> data, Noise noise,
                       std::vector<std::uint8_t> mask);
  bool counts(std::size_t index) const;
  static Term linearTerm(double pixel, double weight);
  static Term chiSquareTerm(double pixel, double datum, double inverseSigma);
  Term termOf(double pixel, std::size_t index) const;
  Term countedTerm(double pixel, std::size_t index) const;
  static double at(const std::vector<double> &numbers, std::size_t index) {
    return numbers[numbers.size() == 1 ? 0 : index];
  }
  double sigmaOf(std::size_t index) const { return at(sigma, index); }

  static std::uint64_t nextSerial();

  std::uint64_t serial = nextSerial(); ///< copies, which nothing can change, have the same
  Kind kind = Kind::Linear;
  std::vector<double> weights, data, sigma;
  Noise noise;
  std::vector<std::uint8_t> mask;
};

class Loss::Memory {
  friend class Loss;
  std::uint64_t loss = 0;           ///< its serial number
  std::vector<std::uint8_t> isDark; ///< for each part; the cotangent has its slopes there
  std::vector<Part> ofDark;
};

} // namespace nanobragg
#endif
