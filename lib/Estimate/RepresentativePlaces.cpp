#include "lib/Estimate/RepresentativePlaces.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <array>

namespace nanobragg {

/// Even over a panel, and not in its middle, where the beam may be: of fast and slow edge.
static constexpr std::array<double, 2> representative[] = {{0.25, 0.07}, {0.01, 0.64}, {0.76, 0.21},
                                                           {0.52, 0.78}, {0.27, 0.35}, {0.03, 0.92},
                                                           {0.78, 0.49}, {0.54, 0.06}};

std::vector<DetectorPlace> representativePlaces(const Experiment &e, const Report &r) {
  std::vector<DetectorPlace> places;
  const auto &panels = e.detector.panels;
  const std::size_t each = std::max<std::size_t>(1, panels.size() / 4);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, panels.size()); i += each) {
    const DetectorReport d = panels.empty()
                                 ? r.detector
                                 : placePanel(e.detector, e.beam.direction, r.detector, panels[i]);
    const double width = e.detector.pixelSize * double(e.detector.fastPixels),
                 height = e.detector.pixelSize * double(e.detector.slowPixels);
    for (const auto &[fast, slow] : representative) {
      const Vec3 position =
          sum(d.pix0, sum(scaled(d.fastAxis, fast * width), scaled(d.slowAxis, slow * height)));
      if (length(position) > 0 && length(difference(unit(position), e.beam.direction)) > 1e-3)
        places.push_back({d, position});
    }
  }
  return places;
}

} // namespace nanobragg
