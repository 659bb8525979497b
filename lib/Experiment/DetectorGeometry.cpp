#include "lib/Experiment/DetectorGeometry.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <cfloat>
#include <cmath>

namespace nanobragg {

Vec3 rotatedWithDetector(const Detector &detector, const Vec3 &x) {
  return rotatedAbout(detector.twothetaAxis, detector.twotheta, rotatedXYZ(detector.rotation, x));
}

double beamNormalCosine(const Detector &detector, const Vec3 &beam, Rule rule) {
  Vec3 normal = rule == Rule::C ? rotatedXYZ(detector.rotation, detector.normal)
                                : rotatedWithDetector(detector, detector.normal);
  double cosine = dot(beam, normal);
  return cosine == 0 ? DBL_MIN : cosine;
}

/// Fills what follows from pix0 and the axes. `cosine`: between beam and normal.
static void measure(DetectorReport &r, double pixelSize, const Vec3 &beam, double cosine) {
  r.fClose = -dot(r.pix0, r.fastAxis);
  r.sClose = -dot(r.pix0, r.slowAxis);
  r.closeDistance = dot(r.pix0, r.normal);
  r.distance = r.closeDistance / cosine;
  Vec3 toBeam = difference(scaled(beam, r.distance), r.pix0);
  r.fBeam = dot(r.fastAxis, toBeam);
  r.sBeam = dot(r.slowAxis, toBeam);
  r.orgX = r.fClose / pixelSize + 0.5;
  r.orgY = r.sClose / pixelSize + 0.5;
  r.dialsOrigin = {1000.0 * r.pix0[2], 1000.0 * r.pix0[1], -1000.0 * r.pix0[0]};
  r.xdsBeam = {dot(beam, r.fastAxis), dot(beam, r.slowAxis), dot(beam, r.normal)};
}

DetectorReport placeDetector(const Detector &d, const Vec3 &beam, Pivot pivot, DistanceInput input,
                             Rule rule) {
  DetectorReport r;
  const double cosine = beamNormalCosine(d, beam, Rule::C);
  const double close =
      input == DistanceInput::CloseDistance ? d.closeDistance : std::fabs(cosine * d.distance);
  r.fastAxis = rotatedWithDetector(d, d.fastAxis);
  r.slowAxis = rotatedWithDetector(d, d.slowAxis);
  r.normal = rotatedWithDetector(d, d.normal);
  auto from = [&](const Vec3 &fast, const Vec3 &slow, const Vec3 &target) {
    return difference(target, sum(scaled(fast, d.beamCenterFast), scaled(slow, d.beamCenterSlow)));
  };
  r.pix0 = pivot == Pivot::Sample
               ? rotatedWithDetector(d, from(d.fastAxis, d.slowAxis, scaled(d.normal, close)))
               : from(r.fastAxis, r.slowAxis, scaled(beam, close / cosine));

  measure(r, d.pixelSize, beam, beamNormalCosine(d, beam, rule));
  return r;
}

DetectorReport placePanel(const Detector &d, const Vec3 &beam, const DetectorReport &whole,
                          const Panel &panel) {
  DetectorReport r = whole;
  r.pix0 = sum(whole.pix0, rotatedWithDetector(d, panel.offset));
  r.fastAxis = rotatedWithDetector(d, panel.fastAxis);
  r.slowAxis = rotatedWithDetector(d, panel.slowAxis);
  r.normal = rotatedWithDetector(d, panel.normal);
  const double cosine = dot(beam, r.normal);
  const bool met = std::fabs(cosine) > 1e-9;
  measure(r, d.pixelSize, beam, met ? cosine : 1);
  if (!met) {
    r.fBeam = r.fClose;
    r.sBeam = r.sClose;
  }
  r.detSizeFast = d.pixelSize * double(panel.fastPixels);
  r.detSizeSlow = d.pixelSize * double(panel.slowPixels);
  return r;
}

std::vector<DetectorReport> placePanels(const Detector &d, const Vec3 &beam,
                                        const DetectorReport &whole) {
  if (d.panels.empty())
    return {whole};
  std::vector<DetectorReport> placed;
  for (const Panel &panel : d.panels)
    placed.push_back(placePanel(d, beam, whole, panel));
  return placed;
}

double solidAngleOfPixel(double squaredDistance, double closeDistance, double pixelSize) {
  return pixelSize * pixelSize * closeDistance / (squaredDistance * std::sqrt(squaredDistance));
}

double solidAngleOfPoint(double squaredDistance) { return 1 / squaredDistance; }

} // namespace nanobragg
