// Random rotations.
#ifndef NANOBRAGG_EXPERIMENT_RANDOMORIENTATION_H
#define NANOBRAGG_EXPERIMENT_RANDOMORIENTATION_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/ProgramVariant.h"
#include "lib/Experiment/Ran1.h"

namespace nanobragg {

struct AxisAngle {
  Vec3 axis{};
  double angle = 0; ///< rad
};

/// A rotation by at most `spread` about a random axis: three draws, with the angle rounded to
/// single precision where the C program does. Angles gather near the spread.
AxisAngle drawMosaicRotation(double spread, Ran1 &random, std::int64_t &seed);

/// The angles about lab X, then Y, then Z of a random orientation; three draws. Right: uniform over
/// all rotations. C: a mosaic rotation by up to 90 rad.
Vec3 drawOrientation(Rule rule, Ran1 &random, std::int64_t &seed);

/// The angles about lab X, then Y, then Z of Shoemake's quaternion: uniform over all rotations
/// where the three numbers are uniform in [0, 1).
Vec3 uniformOrientation(double u, double v, double w);

/// The matrix of a rotation about an axis, row-major.
Mat3 rotationMatrix(const AxisAngle &rotation);

/// The matrix of rotations about lab X, then Y, then Z, rad.
Mat3 rotationXYZ(const Vec3 &angles);

/// Angles about lab X, then Y, then Z that make up a rotation matrix.
Vec3 anglesXYZ(const Mat3 &rotation);

} // namespace nanobragg
#endif
