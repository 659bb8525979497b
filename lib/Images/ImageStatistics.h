// Maximum, mean and deviations.
#ifndef NANOBRAGG_IMAGES_IMAGESTATISTICS_H
#define NANOBRAGG_IMAGES_IMAGESTATISTICS_H

#include "lib/Images/ImageRegion.h"

#include <cstdint>
#include <span>

namespace nanobragg::io {

struct ImageStatistics {
  double maximum = 0; ///< over the rendered pixels, never below 0
  bool found = false; ///< some pixel is above 0; the first with the maximum is at:
  std::int64_t maximumPanel = 0, maximumSlow = 0, maximumFast = 0;
  double mean = 0; ///< over rendered pixels: in the region and not masked
  double rms = 0;  ///< about 0, over rendered pixels, with n - 1
  double rmsd = 0; ///< about the mean, over the region *with* its masked pixels, with n - 1
  std::int64_t notFinite = 0; ///< pixels of the region that are infinite or no number
};

/// `mask` is empty, or 0 for pixels that were skipped. Throws std::invalid_argument when a size
/// does not fit the region. The numbers are the same bits for any number of threads; 0 is one for
/// each processor.
ImageStatistics computeStatistics(std::span<const float> image, const ImageRegion &region,
                                  std::span<const std::uint8_t> mask = {}, int threads = 1);

/// Centre of the last sub-pixel of a pixel along an axis, in m: where max_I is reported.
double lastSubpixelCenter(std::int64_t pixel, double pixelSize, std::int64_t oversample);

} // namespace nanobragg::io
#endif
