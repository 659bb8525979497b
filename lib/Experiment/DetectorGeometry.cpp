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

  r.fClose = -dot(r.pix0, r.fastAxis);
  r.sClose = -dot(r.pix0, r.slowAxis);
  r.closeDistance = dot(r.pix0, r.normal);
  r.distance = r.closeDistance / beamNormalCosine(d, beam, rule);
  Vec3 toBeam = difference(scaled(beam, r.distance), r.pix0);
  r.fBeam = dot(r.fastAxis, toBeam);
  r.sBeam = dot(r.slowAxis, toBeam);
  r.orgX = r.fClose / d.pixelSize + 0.5;
  r.orgY = r.sClose / d.pixelSize + 0.5;
  r.dialsOrigin = {1000.0 * r.pix0[2], 1000.0 * r.pix0[1], -1000.0 * r.pix0[0]};
  r.xdsBeam = {dot(beam, r.fastAxis), dot(beam, r.slowAxis), dot(beam, r.normal)};
  return r;
}

double solidAngleOfPixel(double squaredDistance, double closeDistance, double pixelSize) {
  return pixelSize * pixelSize * closeDistance / (squaredDistance * std::sqrt(squaredDistance));
}

double solidAngleOfPoint(double squaredDistance) { return 1 / squaredDistance; }

} // namespace nanobragg
