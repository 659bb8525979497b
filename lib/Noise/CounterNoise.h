// Random deviates of pixels, each by its place.
#ifndef NANOBRAGG_NOISE_COUNTERNOISE_H
#define NANOBRAGG_NOISE_COUNTERNOISE_H

#include "lib/Experiment/Philox.h"

#include <cstdint>
#include <span>

namespace nanobragg::io {

/// The purpose of a deviate: pixels have independent ones for each.
enum class Purpose : std::uint32_t { Photons, Flicker, Calibration, ReadOut, BadPixels };

/// The deviates of one purpose of one shot. They depend on seed, shot, purpose and the pixel's
/// index alone, so that any part of an image may be drawn by any thread.
class CounterNoise {
public:
  CounterNoise(std::int64_t seed, std::int64_t shot, Purpose purpose)
      : generator{std::uint32_t(seed), std::uint32_t(shot)}, purpose(std::uint32_t(purpose)) {}

  /// Numbers of the pixels from `first` on: Poisson's law about each of the means, exact at all
  /// means up to 1e15: below 10 by inversion, above by transformed rejection (PTRS; W. Hoermann,
  /// Insurance: Mathematics and Economics 12 (1993) 39). A mean that is not above 0 gives 0, one
  /// that is not a number none. `photons` may be `means`.
  void poisson(std::uint64_t first, std::span<const double> means, std::span<double> photons) const;

  /// Deviates of the pixels from `first` on: mean 0 and variance 1, by inversion (M. J. Wichura,
  /// algorithm AS 241, Applied Statistics 37 (1988) 477; 1e-16).
  void normal(std::uint64_t first, std::span<double> deviates) const;

  /// The number of one pixel, between 0 and 1.
  double uniform(std::uint64_t pixel) const;

private:
  static constexpr std::size_t block = 256;
  struct Batch;
  void draw(Batch &batch, std::uint32_t attempt) const;
  void invert(Batch &batch, std::uint64_t first, double *photons) const;
  void reject(Batch &batch, std::uint64_t first, double *photons) const;

  Philox generator;
  std::uint32_t purpose;
};

/// The number below which a normal deviate lies with the probability `p`, 0 < p < 1.
double normalQuantile(double p);

} // namespace nanobragg::io
#endif
