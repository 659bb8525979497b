// How a detector makes counts of photons.
#ifndef NANOBRAGG_NOISE_NOISEMODEL_H
#define NANOBRAGG_NOISE_NOISEMODEL_H

#include "lib/Experiment/ProgramVariant.h"

#include <cstdint>
#include <optional>

namespace nanobragg {

/// Philox: each pixel's deviates by its place, on any number of threads. Serial: the C program's
/// generators, one pixel after the other.
enum class NoiseGenerator { Philox, Serial };

/// In which order a detector's parts act; see docs/detector-response.md.
enum class DetectorOrder { Detector, Noisify, Simtbx };

/// The steps from expected photons to counts. All zero: Poisson's law alone.
struct NoiseModel {
  NoiseGenerator generator = NoiseGenerator::Philox;
  DetectorOrder order = DetectorOrder::Detector;
  double flicker = 0; ///< standard deviation of the beam's intensity, as a fraction
  double calibration =
      0; ///< standard deviation of pixels' sensitivity, the same for all shots: as a fraction
  std::int64_t calibrationSeed = 123456789; ///< as the generator takes it
  double readOut = 0;                       ///< standard deviation in ADU
  double deadPixels = 0, hotPixels = 0;     ///< fractions of the pixels, chosen by calibrationSeed
  std::int64_t shot = 0; ///< with Philox: each has other deviates of the same seed
  // The spread of counted photons, where the image is of photons that have not been spread.
  PointSpread pointSpread = PointSpread::None;
  double psfWidth = 0;            ///< in pixels
  std::int64_t psfRadius = 0;     ///< pixels; 0, with Noisify alone: by each pixel's photons
  int bits = 16;                  ///< a count's: 16 or 32, of which 31 are used
  std::optional<double> overload; ///< largest count; unset: what the bits can hold

  double largestCount() const { return overload.value_or(bits == 16 ? 65535.0 : 2147483647.0); }
};

} // namespace nanobragg
#endif
