// Which pixels of an image count.
#ifndef NANOBRAGG_IO_IMAGEREGION_H
#define NANOBRAGG_IO_IMAGEREGION_H

#include "lib/Experiment/CheckedSize.h"
#include "lib/Experiment/Experiment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nanobragg::io {

/// An image of panels x slow x fast pixels and the rectangle of each panel that was computed,
/// bounds inclusive; they may lie beyond the edge.
struct ImageRegion {
  std::int64_t fastPixels = 0, slowPixels = 0, panels = 1;
  std::int64_t fastMin = 0, fastMax = 0, slowMin = 0, slowMax = 0;

  static ImageRegion whole(std::int64_t fastPixels, std::int64_t slowPixels,
                           std::int64_t panels = 1) {
    return {fastPixels, slowPixels, panels, 0, fastPixels - 1, 0, slowPixels - 1};
  }
  static ImageRegion of(const Experiment &experiment) {
    const Detector &d = experiment.detector;
    return {d.fastPixels, d.slowPixels, experiment.panelCount(),
            d.roiFastMin, d.roiFastMax, d.roiSlowMin, d.roiSlowMax};
  }

  std::size_t pixelCount() const { 
    return std::size_t(productOf({panels, slowPixels, fastPixels}, "an image"));
  }

  /// Calls visit(index) for the computed pixels in the order of the image.
  template <typename Visit> void forEachPixel(Visit &&visit) const {
    const std::int64_t f0 = std::max<std::int64_t>(fastMin, 0);
    const std::int64_t f1 = std::min(fastMax, fastPixels - 1);
    const std::int64_t s0 = std::max<std::int64_t>(slowMin, 0);
    const std::int64_t s1 = std::min(slowMax, slowPixels - 1);
    for (std::int64_t panel = 0; panel < panels; ++panel)
      for (std::int64_t s = s0; s <= s1; ++s)
        for (std::int64_t f = f0; f <= f1; ++f)
          visit(std::size_t((panel * slowPixels + s) * fastPixels + f));
  }
};

} // namespace nanobragg::io
#endif
