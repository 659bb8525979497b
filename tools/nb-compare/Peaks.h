// Where the bright spots are.
#ifndef NANOBRAGG_NBCOMPARE_PEAKS_H
#define NANOBRAGG_NBCOMPARE_PEAKS_H

#include "lib/Images/ImageFile.h"

#include <cstdint>
#include <vector>

namespace nanobragg {

struct Peak {
  std::int64_t panel = 0, slow = 0, fast = 0;
  double value = 0;
};

/// Peaks of equal value in the order of the image.
bool brighter(const Peak &a, const Peak &b);

/// The `count` brightest pixels of the region that are positive and not exceeded by any of their
/// eight neighbours, brightest first. A plateau is one peak, at its first pixel.
std::vector<Peak> findPeaks(const Image &image, const io::ImageRegion &region, std::size_t count);

struct PeakMatch {
  Peak first, second;
  double shift = 0; ///< pixels
};

/// Pairs peaks of one panel that are no farther apart than `distance` pixels, nearest pairs first;
/// no peak is in two pairs.
std::vector<PeakMatch> matchPeaks(const std::vector<Peak> &first, const std::vector<Peak> &second,
                                  double distance);

} // namespace nanobragg
#endif
