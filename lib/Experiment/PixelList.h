// An image of the pixels that are asked for.
#ifndef NANOBRAGG_EXPERIMENT_PIXELLIST_H
#define NANOBRAGG_EXPERIMENT_PIXELLIST_H

#include "lib/Experiment/Experiment.h"
#include "nanobragg/Run.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace nanobragg {

/// A list of pixels as an image, whose rows have pixels of one panel each. Some places at the ends
/// of rows repeat the pixel before, so that all rows are of one length; they belong to no listed
/// pixel.
struct ListedPixels {
  static constexpr std::size_t none = std::size_t(-1);

  std::vector<std::size_t>
      places; ///< where each listed pixel is in the image; none: masked or outside the region
  std::size_t imagePixels = 0;
  /// Listed pixels whose places follow one another, too.
  struct Run {
    std::size_t listed, place, count;
  };
  std::vector<Run> runs; ///< all that have a place, in their order; findRuns() makes them of places

  void findRuns();
  bool any() const { return !places.empty(); }

  /// The numbers of the listed pixels out of those of the image; 0 where there is none.
  template <typename T, typename U>
  void gather(std::span<const T> image, std::span<U> list) const {
    std::size_t done = 0;
    for (const Run &run : runs) {
      std::ranges::fill(list.subspan(done, run.listed - done), U(0));
      std::ranges::copy(image.subspan(run.place, run.count),
                        list.begin() + std::ptrdiff_t(run.listed));
      done = run.listed + run.count;
    }
    std::ranges::fill(list.subspan(done), U(0));
  }

  /// The other way round: places of no listed pixel are 0.
  std::vector<double> scatter(std::span<const double> list) const;

  /// Throws std::invalid_argument unless that is the number of listed pixels.
  void requireSize(std::size_t numbers) const;

  /// Throws std::invalid_argument unless the experiment's image is one that listPixels made, and
  /// has all places.
  void requireImageOf(const Experiment &experiment) const;
};

/// Makes the detector's image that of the pixels, in this order; each may be listed more than once.
/// Maps of the detector's pixels become those of the image, the mask and the region decide which of
/// the pixels are rendered. Throws std::invalid_argument for a pixel that the detector does not
/// have, or when the list is empty. `kinds`: a number for each pixel, if there are any; those of
/// one row of the image are the same.
ListedPixels listPixels(Experiment &experiment, std::span<const PixelIndex> pixels,
                        std::span<const std::int64_t> kinds = {});

/// The detector's pixel at a place in the experiment's image, which may have a list.
PixelIndex pixelAt(const Detector &detector, bool listed, std::size_t place);

/// As listPixels, for places in the experiment's image, which may have a list already.
ListedPixels listPlaces(Experiment &experiment, std::span<const std::size_t> places);

} // namespace nanobragg
#endif
