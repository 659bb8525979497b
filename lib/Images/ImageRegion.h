// Which pixels of an image count.
#ifndef NANOBRAGG_IMAGES_IMAGEREGION_H
#define NANOBRAGG_IMAGES_IMAGEREGION_H

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
    return {d.fastPixels, d.slowPixels, experiment.imagePanels(), d.roiFastMin, d.roiFastMax,
            d.roiSlowMin, d.roiSlowMax};
  }

  std::size_t pixelCount() const {
    return std::size_t(productOf({panels, slowPixels, fastPixels}, "an image"));
  }

  // The part of the rectangle on a panel: columns and rows from begin up to, not with, end.
  std::int64_t fastBegin() const { return std::max<std::int64_t>(fastMin, 0); }
  std::int64_t fastEnd() const { return std::max(std::min(fastMax + 1, fastPixels), fastBegin()); }
  std::int64_t slowBegin() const { return std::max<std::int64_t>(slowMin, 0); }
  std::int64_t slowEnd() const { return std::max(std::min(slowMax + 1, slowPixels), slowBegin()); }

  /// The computed part of rows, of all panels and in their order.
  std::int64_t rows() const { return panels * (slowEnd() - slowBegin()); }
  std::int64_t pixelsOfRow() const { return fastEnd() - fastBegin(); }
  /// Index of the first computed pixel of one of them.
  std::size_t beginOfRow(std::int64_t row) const {
    const std::int64_t perPanel = slowEnd() - slowBegin();
    const std::int64_t slow = row / perPanel * slowPixels + slowBegin() + row % perPanel;
    return std::size_t(slow * fastPixels + fastBegin());
  }

  /// Calls visit(index) for the computed pixels in the order of the image.
  template <typename Visit>
  void forEachPixel(Visit &&visit) const {
    for (std::int64_t row = 0; row != rows(); ++row) {
      const std::size_t begin = beginOfRow(row), count = std::size_t(pixelsOfRow());
      for (std::size_t i = begin; i != begin + count; ++i)
        visit(i);
    }
  }
};

} // namespace nanobragg::io
#endif
