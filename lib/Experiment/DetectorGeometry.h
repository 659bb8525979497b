// Where the detector stands.
#ifndef NANOBRAGG_EXPERIMENT_DETECTORGEOMETRY_H
#define NANOBRAGG_EXPERIMENT_DETECTORGEOMETRY_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

#include <optional>
#include <vector>

namespace nanobragg {

/// The detector's rotations about X, Y and Z, then the two-theta swing.
Vec3 rotatedWithDetector(const Detector &detector, const Vec3 &x);

/// Cosine between the beam and the detector normal; without the two-theta swing (C) it relates
/// distance and close distance when the detector is placed, with it (Right) afterwards. Never 0.
double beamNormalCosine(const Detector &detector, const Vec3 &beam, Rule rule);

/// Origin, axes, nearest point and beam centre after all rotations; fills what depends on these.
/// `rule` tells which cosine the beam centre is found with.
DetectorReport placeDetector(const Detector &detector, const Vec3 &beam, Pivot pivot,
                             DistanceInput input, Rule rule);

/// The same of one panel of a detector that has been placed as `whole`. The beam centre of a panel
/// that the beam's line does not meet is its nearest point.
DetectorReport placePanel(const Detector &detector, const Vec3 &beam, const DetectorReport &whole,
                          const Panel &panel);
/// All panels of a detector that has been placed as `whole`; itself, where it has none.
std::vector<DetectorReport> placePanels(const Detector &detector, const Vec3 &beam,
                                        const DetectorReport &whole);

/// The solid angle of a pixel, in steradian, at a squared distance (m^2) from the sample: its area
/// in m), seen at its obliquity, close distance (m) over distance.
double solidAngleOfPixel(double squaredDistance, double closeDistance, double pixelSize);
/// The same without area and obliquity, in 1/m^2.
double solidAngleOfPoint(double squaredDistance);

} // namespace nanobragg
#endif
