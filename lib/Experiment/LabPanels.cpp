#include "lib/Experiment/LabPanels.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

/// The panel that the beam meets, else the first.
const LabPanel &panelInBeam(const std::vector<LabPanel> &panels, const Vec3 &beam, double pixel) {
  for (const LabPanel &p : panels) {
    const Vec3 fast = unit(p.fastAxis), slow = unit(p.slowAxis), normal = cross(fast, slow);
    const double cosine = dot(beam, normal), away = dot(p.origin, normal);
    if (std::fabs(cosine) < 1e-6 || away / cosine <= 0)
      continue;
    const Vec3 met = difference(scaled(beam, away / cosine), p.origin);
    const double f = dot(met, fast) / pixel, s = dot(met, slow) / pixel;
    if (f >= 0 && f <= double(p.fastPixels) && s >= 0 && s <= double(p.slowPixels))
      return p;
  }
  return panels.front();
}

/// Away from the sample.
Vec3 outwards(Vec3 normal, const Vec3 &origin) {
  return dot(origin, normal) < 0 ? scaled(normal, -1) : normal;
}

} // namespace

LabDetector placeInLab(const std::vector<LabPanel> &panels, const Vec3 &beam, double pixelSize) {
  if (panels.empty())
    throw std::invalid_argument("a detector has at least one panel");
  const LabPanel &reference = panelInBeam(panels, beam, pixelSize);
  LabDetector d;
  d.fastAxis = unit(reference.fastAxis);
  d.slowAxis = unit(reference.slowAxis);
  d.normal = outwards(unit(cross(d.fastAxis, d.slowAxis)), reference.origin);
  d.closeDistance = dot(reference.origin, d.normal);
  if (!(d.closeDistance > 1e-9))
    throw std::invalid_argument("has a detector whose plane goes through the sample");
  // Axes may be a little off a right angle.
  const double skew = dot(d.fastAxis, d.slowAxis), determinant = 1 - skew * skew;
  const double f = -dot(reference.origin, d.fastAxis), s = -dot(reference.origin, d.slowAxis);
  d.beamCenterFast = (f - skew * s) / determinant;
  d.beamCenterSlow = (s - skew * f) / determinant;
  for (const LabPanel &p : panels) {
    PanelOptions panel;
    panel.file = p.file;
    panel.offset = difference(p.origin, reference.origin);
    panel.fastAxis = p.fastAxis;
    panel.slowAxis = p.slowAxis;
    panel.normal = outwards(cross(p.fastAxis, p.slowAxis), p.origin);
    panel.fastPixels = p.fastPixels;
    panel.slowPixels = p.slowPixels;
    d.panels.push_back(panel);
  }
  return d;
}

} // namespace nanobragg
