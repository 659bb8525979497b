// The counts of a run's images.
#ifndef NANOBRAGG_NBSIM_NOISE_H
#define NANOBRAGG_NBSIM_NOISE_H

#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/CommandLine.h"
#include "lib/Noise/NoiseImage.h"
#include "tools/nb-sim/LightMap.h"

#include <span>

namespace nanobragg {

/// An image as it was rendered.
struct RenderedImage {
  std::span<const float> pixels;
  std::span<const double> photons; ///< that it was made of, see Simulator::photons()
  const LightMap *map = nullptr;   ///< where --write-map asks for it
};

/// The noise image, of 16 or 32 bits. Serial random numbers are drawn from complete.random.
io::NoiseImage noiseImageOf(const RenderedImage &image, const CommandLine &line,
                            CompleteExperiment &complete);

/// The counts of a counting detector: the same deviates without offset, with 31 bits; after
/// -nonoise the image rounded.
std::vector<std::int32_t> countsOf(const RenderedImage &image, const CommandLine &line,
                                   const CompleteExperiment &complete);

} // namespace nanobragg
#endif
