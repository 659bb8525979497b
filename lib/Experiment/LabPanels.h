// A detector as panels in the laboratory.
#ifndef NANOBRAGG_EXPERIMENT_LABPANELS_H
#define NANOBRAGG_EXPERIMENT_LABPANELS_H

#include "lib/Experiment/Options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nanobragg {

/// A panel where it stands, the sample at the origin.
struct LabPanel {
  Vec3 origin{};               ///< m, the outer corner of the first pixel
  Vec3 fastAxis{}, slowAxis{}; ///< any length
  std::int64_t fastPixels = 0, slowPixels = 0;
  std::string file = {}; ///< where it is from, for messages
};

/// The same as fields of Options: the panel that the beam meets stands for the detector, with the
/// custom convention and turned about the sample.
struct LabDetector {
  Vec3 fastAxis{}, slowAxis{}, normal{}; ///< unit
  double closeDistance = 0;              ///< m
  /// Options::xBeam and yBeam: from the first pixel's corner to the point nearest to the sample, m.
  double beamCenterFast = 0, beamCenterSlow = 0;
  std::vector<PanelOptions> panels;
};

/// `beam`: unit, direction of propagation. `pixelSize`: m. Throws std::invalid_argument for a plane
/// that goes through the sample.
LabDetector placeInLab(const std::vector<LabPanel> &panels, const Vec3 &beam, double pixelSize);

} // namespace nanobragg
#endif
