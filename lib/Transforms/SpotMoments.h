// The light of a spot over a whole plane, in closed form: docs/reflections.md has the formulas.
#ifndef NB_TRANSFORMS_SPOTMOMENTS_H
#define NB_TRANSFORMS_SPOTMOMENTS_H

#include "lib/Transforms/SpotAverage.h"

#include <array>

namespace mlir::nb {

/// Photons, place and shape of a spot, up to factors that its place alone decides.
struct SpotMoments {
  Value light;      ///< the average of the squared lattice factor over its peak, summed over pixels
  Value partiality; ///< docs/reflections.md
  std::array<Value, 2> place; ///< the mean place along fast and slow, in pixels
  Value ff, fs, ss;           ///< and its covariance
  /// Without a rotation: with z1 = f / sqrt(ff) and z2 = (s - f fs / ff) / sqrt(ss - fs^2 / ff),
  /// from the mean place, the light is a Gaussian times exp(-skew[0] (z1^3 - 3 z1) - skew[1] (z1^2
  /// - 1) z2
  /// - skew[2] z1 (z2^2 - 1) - skew[3] (z2^3 - 3 z2)). Null with one.
  std::array<Value, 4> skew;
  Value turn, turnVariance; ///< the angle in the rotation step, -1/2 to 1/2; null without one
};

/// A spot that is linear about a point. Its uniform variables are the place along fast and slow in
/// pixels, which have no bounds, and the rotation in the step, if there is one.
class PlaneSpot {
public:
  PlaneSpot(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &about, RuleBuilder &r);

  /// Near where it is brightest. `exponent`: as that of Quadrature.
  SpotPoint brightest(Value exponent);
  SpotMoments moments(const Quadrature &quadrature);

  /// The point that is z1, z2 standard deviations from the middle, with the normal variables that
  /// are likeliest there.
  SpotPoint pointAt(double z1, double z2);
  /// How the distance and the light differ at these points from what is linear.
  struct Bend {
    Value alongFirst, alongSecond, mixed; ///< second derivatives of the distance by z1, z2, both
    std::array<Value, 2> slope;           ///< derivatives of the light's logarithm
  };
  /// With terms of the next order, of a spot without rotation.
  void correct(SpotMoments &moments, const Bend &bend);
  /// The factor by which all spreads lower the peak.
  Value loss() const { return lost; }

  struct Normal {
    Value mean, variance;
    std::array<Value, 2> covariance; ///< with the place along fast and slow
  };
  /// The mean and the variance of a sum of normal variables with these weights, null is 0, of the
  /// light in the spot.
  Normal ofNormals(ArrayRef<Value> weights, const SpotMoments &moments);

private:
  std::array<Value, 3> axes(); ///< standard deviations along z1, the same along slow, and along z2
  std::array<Value, 2> centreOf(Value distance);
  Value residualOf(Value distance, const std::array<Value, 2> &centre);
  Value along(Value value, Value slope, Value turn);

  const LinearSpot &spot;
  const SpotPoint &about;
  RuleBuilder &r;
  Symmetric precision;
  Value lost;                 ///< sqrt of the shape's determinant over that of all spreads
  std::array<Value, 2> moved; ///< precision times the columns of the place
  Value ff, fs, ss;           ///< covariance of the place at one angle
  Value area;                 ///< 2 pi sqrt of its determinant
  std::array<Value, 2> centre, centreSlope;
  Value residual, residualSlope; ///< the distance at the centre
  /// The exponent there, least + 2 slope u + curvature u^2 for the angle u.
  Value least, slope, curvature;
};

} // namespace mlir::nb

#endif
