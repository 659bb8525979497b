#include "runtime/simulator/RenderedPixels.h"

#include "lib/Experiment/PixelList.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {
constexpr std::int64_t edge = 4; ///< pixels of a square
} // namespace

RenderedPixels::RenderedPixels(const Experiment &image) {
  const Detector &d = image.detector;
  const bool listed = image.variant.pixelList;
  const std::int64_t fast = listed ? d.wholeFastPixels : d.fastPixels,
                     slow = listed ? d.wholeSlowPixels : d.slowPixels;
  for (std::int64_t i = 0; i != std::max<std::int64_t>(std::ssize(d.panels), 1); ++i) {
    Panel &panel = panels.emplace_back();
    panel.fastSquares = fast / edge + 1;
    panel.slowSquares = slow / edge + 1;
    panel.before.assign(std::size_t((panel.fastSquares + 1) * (panel.slowSquares + 1)), 0);
  }
  const auto mark = [&](const PixelIndex &pixel) {
    Panel &panel = panels[std::size_t(pixel.panel)];
    panel.before[std::size_t((pixel.slow / edge + 1) * (panel.fastSquares + 1) + pixel.fast / edge +
                             1)] = 1;
  };
  const std::int64_t panelPixels = d.slowPixels * d.fastPixels;
  for (std::int64_t place = 0; place != image.pixelCount(); ++place) {
    const std::int64_t row = place % panelPixels / d.fastPixels, column = place % d.fastPixels;
    if (row >= d.roiSlowMin && row <= d.roiSlowMax && column >= d.roiFastMin &&
        column <= d.roiFastMax && (!image.variant.mask || d.mask[std::size_t(place)]))
      mark(pixelAt(d, listed, std::size_t(place)));
  }
  for (Panel &panel : panels) {
    const std::size_t width = std::size_t(panel.fastSquares + 1);
    for (std::size_t i = width + 1; i < panel.before.size(); ++i)
      if (i % width != 0)
        panel.before[i] +=
            panel.before[i - 1] + panel.before[i - width] - panel.before[i - width - 1];
  }
}

bool RenderedPixels::anyBetween(std::int64_t panel, const double (&fast)[2],
                                const double (&slow)[2]) const {
  const Panel &p = panels[std::size_t(panel)];
  if (!std::isfinite(fast[0] + fast[1] + slow[0] + slow[1]))
    return true;
  const auto square = [](double pixel, std::int64_t squares) {
    return std::int64_t(std::clamp(std::floor(pixel / double(edge)), -1.0, double(squares)));
  };
  // From this one on, and up to before that one.
  const auto bounds = [&](const double (&ends)[2], std::int64_t squares) {
    return std::pair(std::max<std::int64_t>(square(ends[0], squares), 0),
                     std::min(square(ends[1], squares) + 1, squares));
  };
  const auto [fastBegin, fastEnd] = bounds(fast, p.fastSquares);
  const auto [slowBegin, slowEnd] = bounds(slow, p.slowSquares);
  if (fastBegin >= fastEnd || slowBegin >= slowEnd)
    return false;
  const auto before = [&](std::int64_t s, std::int64_t f) {
    return p.before[std::size_t(s * (p.fastSquares + 1) + f)];
  };
  return before(slowEnd, fastEnd) - before(slowBegin, fastEnd) - before(slowEnd, fastBegin) +
             before(slowBegin, fastBegin) !=
         0;
}

} // namespace nanobragg
