// Where an image has pixels.
#ifndef NANOBRAGG_SIMULATOR_RENDEREDPIXELS_H
#define NANOBRAGG_SIMULATOR_RENDEREDPIXELS_H

#include "lib/Experiment/Experiment.h"

#include <cstdint>
#include <vector>

namespace nanobragg {

/// The pixels of an image with a region of interest, a mask or a list, to within a few pixels.
class RenderedPixels {
public:
  explicit RenderedPixels(const Experiment &image);

  /// Whether the image has a pixel between these places of a panel, in pixels from its corner, or
  /// next to them. True for numbers that are not finite.
  bool anyBetween(std::int64_t panel, const double (&fast)[2], const double (&slow)[2]) const;

private:
  struct Panel {
    std::int64_t fastSquares = 0, slowSquares = 0;
    std::vector<std::uint32_t> before; ///< squares with pixels of lower fast and slow, as a table
  };
  std::vector<Panel> panels;
};

} // namespace nanobragg
#endif
