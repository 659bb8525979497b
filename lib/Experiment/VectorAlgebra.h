// Vectors and rotations of the lab frame.
#ifndef NANOBRAGG_EXPERIMENT_VECTORALGEBRA_H
#define NANOBRAGG_EXPERIMENT_VECTORALGEBRA_H

#include "lib/Experiment/Experiment.h"

#include <cmath>

namespace nanobragg {

inline double dot(const Vec3 &x, const Vec3 &y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
inline Vec3 cross(const Vec3 &x, const Vec3 &y) {
  return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
}
inline Vec3 scaled(const Vec3 &x, double factor) {
  return {factor * x[0], factor * x[1], factor * x[2]};
}
inline Vec3 sum(const Vec3 &x, const Vec3 &y) { return {x[0] + y[0], x[1] + y[1], x[2] + y[2]}; }
inline Vec3 difference(const Vec3 &x, const Vec3 &y) {
  return {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
}
inline double length(const Vec3 &x) { return std::sqrt(dot(x, x)); }

/// The zero vector stays zero.
inline Vec3 unit(const Vec3 &x) {
  double l = length(x);
  return l == 0 ? x : Vec3{x[0] / l, x[1] / l, x[2] / l};
}

/// Right-handed rotation about an axis (Rodrigues), which is used as it is: no unit vector, no
/// rotation.
inline Vec3 rotatedAbout(const Vec3 &axis, double angle, const Vec3 &x) {
  double s = std::sin(angle), c = std::cos(angle);
  return sum(sum(scaled(axis, dot(axis, x) * (1 - c)), scaled(x, c)), scaled(cross(axis, x), s));
}

/// Right-handed rotations about lab X, then Y, then Z. Rounds as the C program does, which writes
/// each as a plane rotation, because lengths that it divides and rounds up depend on this.
inline Vec3 rotatedXYZ(const Vec3 &angles, const Vec3 &x) {
  Vec3 result = x;
  for (int axis = 0; axis < 3; ++axis) {
    if (angles[axis] == 0)
      continue;
    const double s = std::sin(angles[axis]), c = std::cos(angles[axis]);
    double &u = result[(axis + 1) % 3], &v = result[(axis + 2) % 3];
    const Vec3 old = {0, u, v};
    u = old[1] * c - old[2] * s;
    v = old[1] * s + old[2] * c;
  }
  return result;
}

} // namespace nanobragg
#endif
