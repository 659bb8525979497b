// How far two images are apart, by their pixels and their peaks.
#ifndef NANOBRAGG_NBCOMPARE_COMPARISON_H
#define NANOBRAGG_NBCOMPARE_COMPARISON_H

#include "lib/Images/ImageFile.h"

#include <cstdint>
#include <optional>
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

/// A pixel that is furthest off by some measure.
struct WorstPixel {
  double difference = 0; ///< the measure: absolute, relative, or in units of the tolerance
  std::int64_t panel = 0, slow = 0, fast = 0;
  double test = 0, reference = 0;
};

/// |test - reference| <= rtol * |reference| + atol + atolOfMax * max |reference|.
struct PixelTolerance {
  double rtol = 0, atol = 0, atolOfMax = 0;
};

struct PeakSearch {
  std::size_t count = 20; ///< brightest peaks of each image
  double distance = 5;    ///< pixels; peaks farther apart are not the same
};

struct PeakComparison {
  std::size_t test = 0, reference = 0, matched = 0;
  double meanShift = 0, maxShift = 0; ///< pixels, of matched peaks
  std::vector<PeakMatch> matches;     ///< brightest first
};

/// Sums run over the pixels of the region where both images are finite.
struct Comparison {
  std::int64_t pixels = 0;           ///< in the region
  std::int64_t compared = 0;         ///< finite in both
  std::int64_t notFinite = 0;        ///< in the same way in both: they count as equal
  std::int64_t notFiniteInOne = 0;   ///< in one only, or in different ways
  std::optional<double> correlation; ///< Pearson's; unset for a constant image that differs
  double testSum = 0, referenceSum = 0;
  std::optional<double> sumRatio; ///< test over reference; unset when only the latter is 0
  double rms = 0;                 ///< the difference's
  std::int64_t different = 0;     ///< pixels that are not equal
  std::optional<WorstPixel> maxAbsolute, maxRelative; ///< unset when no compared pixel differs
  std::int64_t beyondTolerance = 0;      ///< with those that are not finite in one only
  std::optional<WorstPixel> worstBeyond; ///< in units of its tolerance
  PeakComparison peaks;
};

/// The images have one shape.
Comparison compare(const Image &test, const Image &reference, const io::ImageRegion &region,
                   const PixelTolerance &tolerance, const PeakSearch &search);

} // namespace nanobragg
#endif
