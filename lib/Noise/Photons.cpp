#include "lib/Noise/Photons.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg {

bool hasSmallPanels(const Detector &d) {
  return std::ranges::any_of(d.panels, [&](const Panel &panel) {
    return panel.fastPixels < d.fastPixels || panel.slowPixels < d.slowPixels;
  });
}

void requireWholeProgram(const Experiment &e) {
  if (e.variant.pointSpread == PointSpread::None)
    return;
  if (e.variant.pixelList)
    throw std::invalid_argument("no program spreads light over a list of pixels, whose neighbours "
                                "are not in it; leave out --pixels, or -psf for that of the "
                                "photons");
  if (hasSmallPanels(e.detector))
    throw std::invalid_argument("no program spreads light over panels of several sizes, which "
                                "needs a mask of its own; leave out -psf for that of the photons");
}

Experiment photonsOf(Experiment e) {
  Detector &d = e.detector;
  e.variant.leaveOutResponse();
  d.gainMap.values.clear();
  if (e.variant.pixelList) { // the whole detector, of which SpreadList says what is needed
    e.variant.pixelList = false;
    d.listPanel = d.listSlow = d.listFast = {};
    d.fastPixels = d.wholeFastPixels;
    d.slowPixels = d.wholeSlowPixels;
    d.roiFastMax = d.fastPixels - 1;
    d.roiSlowMax = d.slowPixels - 1;
    return e;
  }
  const std::int64_t radius = d.psfRadius;
  if (d.roiFastMin <= d.roiFastMax && d.roiSlowMin <= d.roiSlowMax) {
    d.roiFastMin = std::max<std::int64_t>(0, d.roiFastMin - radius);
    d.roiFastMax = std::min(d.fastPixels - 1, d.roiFastMax + radius);
    d.roiSlowMin = std::max<std::int64_t>(0, d.roiSlowMin - radius);
    d.roiSlowMax = std::min(d.slowPixels - 1, d.roiSlowMax + radius);
  }
  // Light falls on pixels that the mask leaves out, but not beyond a panel's edge.
  d.mask.clear();
  e.variant.mask = hasSmallPanels(d);
  if (e.variant.mask)
    for (const Panel &panel : d.panels)
      for (std::int64_t s = 0; s != d.slowPixels; ++s)
        for (std::int64_t f = 0; f != d.fastPixels; ++f)
          d.mask.push_back(s < panel.slowPixels && f < panel.fastPixels);
  return e;
}

Experiment behindLight(Experiment e) {
  e.variant.lightGiven = true;
  e.variant.pointSpread = PointSpread::None;
  e.detector.light.values.resize(std::size_t(e.pixelCount()));
  return e;
}

} // namespace nanobragg
