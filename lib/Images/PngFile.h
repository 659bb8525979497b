// Pictures to look at.
#ifndef NANOBRAGG_IMAGES_PNGFILE_H
#define NANOBRAGG_IMAGES_PNGFILE_H

#include "lib/Files/OutputFile.h"

#include <cstdint>
#include <span>
#include <vector>

namespace nanobragg::io {

/// Gray: spots bright on black. Film: spots dark on white. Cubehelix: colours whose perceived
/// brightness rises evenly.
enum class Palette { Gray, Film, Cubehelix };

/// The photons that are shown as the darkest and the brightest tone.
struct ToneLimits {
  double low = 0, high = 0;
};

/// Limits for a logarithmic scale on which Bragg spots stand out: from the background (the median,
/// but no more than four decades down) to the brightest pixel in ten thousand.
ToneLimits chooseToneLimits(std::span<const float> photons);

/// 0 at or below `low`, 255 at or above `high`, logarithmic between.
std::vector<std::uint8_t> logTones(std::span<const float> photons, ToneLimits limits);

/// Throws std::invalid_argument unless there are fastPixels * slowPixels tones.
void writePng(OutputFile &out, std::int64_t fastPixels, std::int64_t slowPixels,
              std::span<const std::uint8_t> tones, Palette palette);

} // namespace nanobragg::io
#endif
