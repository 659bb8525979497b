// A curved panel, seen from the crystal.
//
// Its points are b turned about the slow axis s by the angle alpha, then about the fast axis f by
// beta (nb.curved_position); alpha and beta are linear in the coordinates of the point. With f and
// s at right angles and the unit vector m = f x s, the first turn leaves s . b alone and the second
// one f . d, so that for a direction d on the panel
//
//   f . d = sigma r sin(psi), psi = alpha + tau, r = |b - (s . b) s|, tan(tau) = f . b / f . (s x
//   b) beta = kappa (theta' - theta), tan(theta) = s . d / (kappa m . d),
//                                  tan(theta') = s . b / (r cos(psi))
//
// where sigma and kappa are signs. Both sides of the panel are less than a right angle away.
#ifndef NANOBRAGG_RUNTIME_CURVEDPANEL_H
#define NANOBRAGG_RUNTIME_CURVEDPANEL_H

#include "runtime/processor/ReachLoops.h"
#include "runtime/processor/Vector.h"

#include <array>
#include <span>
#include <vector>

namespace nanobragg {

class CurvedPanel {
public:
  /// Beam and axes of nb.curved_position, and the angles about the slow and the fast axis (x and y,
  /// rad) at the points (fast, slow, depth) = 0 0 0, 1 0 0, 0 1 0 and 0 0 1 m.
  CurvedPanel(Vector beam, Vector fast, Vector slow, const std::array<Vector, 4> &angles);

  /// The part of the panel that is looked at: from the least to the largest coordinate, in m.
  struct Part {
    double fastFirst, fastLast, slowFirst, slowLast, nearest, farthest;
  };
  /// Can the formulas above be used for it?
  bool holds(const Part &part) const;
  loops::Panel view(double depth, double pixelSize, double margin) const;
  /// Directions of points of the part, such that each of its points is at most as far from one of
  /// them as is returned, in rad.
  double addDirections(const Part &part, std::vector<Vector> &directions) const;
  /// The direction of the point with these coordinates, in m.
  Vector directionOf(double fast, double slow, double depth) const {
    return directionAt(anglesAt(fast, slow, depth));
  }

private:
  struct Angles {
    double alpha, beta;
  };
  Angles anglesAt(double fast, double slow, double depth) const;
  Vector directionAt(Angles at) const;

  Vector b, f, s, m;
  double sigma = 1, kappa = 1, tau = 0, radius = 0, along = 0; ///< along: s . b
  Angles origin{}, perFast{}, perSlow{}, perDepth{};           ///< rad, rad/m
};

} // namespace nanobragg
#endif
