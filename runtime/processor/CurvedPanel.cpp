#include "runtime/processor/CurvedPanel.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

constexpr double unitError = 1e-11;
/// Limit of psi and theta, rad: sines and tangents are good up to there.
constexpr double widest = 1.4;

Vector turned(Vector v, Vector axis, double angle) {
  const double c = std::cos(angle);
  return c * v + std::sin(angle) * cross(axis, v) + ((1 - c) * dot(axis, v)) * axis;
}

} // namespace

CurvedPanel::CurvedPanel(Vector beam, Vector fast, Vector slow, const std::array<Vector, 4> &angles)
    : b(beam), f(fast), s(slow), m(cross(fast, slow)) {
  along = dot(s, b);
  const double p = dot(f, b), q = dot(f, cross(s, b));
  radius = std::sqrt(p * p + q * q);
  sigma = q < 0 ? -1 : 1;
  tau = std::atan(p / q);
  // Where psi is 0 the turned beam is along s + r kappa m.
  kappa = dot(m, turned(b, s, -tau)) < 0 ? -1 : 1;
  origin = {angles[0].x, angles[0].y};
  perFast = {angles[1].x - origin.alpha, angles[1].y - origin.beta};
  perSlow = {angles[2].x - origin.alpha, angles[2].y - origin.beta};
  perDepth = {angles[3].x - origin.alpha, angles[3].y - origin.beta};
}

CurvedPanel::Angles CurvedPanel::anglesAt(double fast, double slow, double depth) const {
  return {origin.alpha + fast * perFast.alpha + slow * perSlow.alpha + depth * perDepth.alpha,
          origin.beta + fast * perFast.beta + slow * perSlow.beta + depth * perDepth.beta};
}

Vector CurvedPanel::directionAt(Angles at) const {
  return turned(turned(b, s, at.alpha), f, at.beta);
}

bool CurvedPanel::holds(const Part &part) const {
  const double det = perFast.alpha * perSlow.beta - perSlow.alpha * perFast.beta;
  const double scale =
      std::fabs(perFast.alpha * perSlow.beta) + std::fabs(perSlow.alpha * perFast.beta);
  bool good = std::fabs(dot(f, s)) < unitError && std::fabs(dot(f, f) - 1) < unitError &&
              std::fabs(dot(s, s) - 1) < unitError && std::fabs(dot(b, b) - 1) < unitError &&
              std::fabs(radius * radius + along * along - 1) < 10 * unitError && radius > 0.1 &&
              std::fabs(det) > 1e-6 * scale && std::isfinite(1 / det);
  double farthestPsi = 0, farthestBeta = 0;
  for (double fast : {part.fastFirst, part.fastLast})
    for (double slow : {part.slowFirst, part.slowLast})
      for (double depth : {part.nearest, part.farthest}) {
        const Angles at = anglesAt(fast, slow, depth);
        farthestPsi = std::max(farthestPsi, std::fabs(at.alpha + tau));
        farthestBeta = std::max(farthestBeta, std::fabs(at.beta));
        good &= std::isfinite(at.alpha) && std::isfinite(at.beta);
      }
  if (!good || !(farthestPsi < widest))
    return false;
  const double ofBeam = std::atan(std::fabs(along) / (radius * std::cos(farthestPsi)));
  return farthestBeta + ofBeam < widest;
}

loops::Panel CurvedPanel::view(double depth, double pixelSize, double margin) const {
  loops::Panel view{};
  copy((sigma / radius) * f, view.fast);
  copy(s, view.slow);
  copy(kappa * m, view.forward);
  view.perPixel = 1 / pixelSize;
  view.margin = margin;
  view.curved = true;
  view.tau = tau;
  view.kappa = kappa;
  view.along = along / radius;
  // From the angles to the coordinates in pixels.
  const Angles at = anglesAt(0, 0, depth);
  const double f = 1 / (pixelSize * (perFast.alpha * perSlow.beta - perSlow.alpha * perFast.beta));
  view.toFast[1] = f * perSlow.beta;
  view.toFast[2] = -f * perSlow.alpha;
  view.toSlow[1] = -f * perFast.beta;
  view.toSlow[2] = f * perFast.alpha;
  view.toFast[0] = -view.toFast[1] * at.alpha - view.toFast[2] * at.beta;
  view.toSlow[0] = -view.toSlow[1] * at.alpha - view.toSlow[2] * at.beta;
  return view;
}

// A turn by an angle moves no direction farther than that.
double CurvedPanel::addDirections(const Part &part, std::vector<Vector> &directions) const {
  constexpr int steps = 16;
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; j <= steps; ++j) {
      const double fast = part.fastFirst + (part.fastLast - part.fastFirst) * i / steps;
      const double slow = part.slowFirst + (part.slowLast - part.slowFirst) * j / steps;
      directions.push_back(directionAt(anglesAt(fast, slow, part.nearest)));
    }
  const auto turn = [](Angles per, double by) {
    return std::fabs(by) * (std::fabs(per.alpha) + std::fabs(per.beta));
  };
  return turn(perFast, (part.fastLast - part.fastFirst) / steps / 2) +
         turn(perSlow, (part.slowLast - part.slowFirst) / steps / 2) +
         turn(perDepth, part.farthest - part.nearest);
}

} // namespace nanobragg
