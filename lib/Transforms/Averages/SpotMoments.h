// The light of a spot over a whole plane, in closed form (docs/reflections-methods.md).
#ifndef NB_TRANSFORMS_SPOTMOMENTS_H
#define NB_TRANSFORMS_SPOTMOMENTS_H

#include "lib/Transforms/Averages/SpotAverage.h"

#include <array>

namespace mlir::nb {

/// Photons, place and shape of a spot, up to factors that its place alone decides.
struct SpotMoments {
  Value light;      ///< the average of the squared lattice factor over its peak, summed over pixels
  Value partiality; ///< docs/reflections.md
  std::array<Value, 2> place; ///< the mean place along fast and slow, in pixels
  Value ff, fs, ss;           ///< and its covariance
  /// With z1 = f / sqrt(ff) and z2 = (s - f fs / ff) / sqrt(ss - fs^2 / ff), from the mean place,
  /// the light is a Gaussian times exp(-skew[0] (z1^3 - 3 z1) - skew[1] (z1^2 - 1) z2
  /// - skew[2] z1 (z2^2 - 1) - skew[3] (z2^3 - 3 z2)).
  std::array<Value, 4> skew;
  /// Null without a rotation and a continuous spectrum, as the rest: the angle in the rotation
  /// step, -1/2 to 1/2, or the wavelength's shift, with its variance.
  Value turn, turnVariance;
  /// The variance of the place by the angle or the shift alone, in units of the spot's own; and the
  /// fourth cumulant of the place along the way of the spot, in units of its variance there. With a
  /// spectrum, the fourth, the third and the lines of the spectrum in it taken together.
  Value motion, excess;
  Value brightest; ///< the largest partiality within the part of the step or the spectrum
};

/// A part of a rotation step, from its middle, in parts of its width; or of a spectrum.
struct StepPart {
  Value begin, end;
};

/// A spot that is linear about a point. Its uniform variables are the place along fast and slow in
/// pixels, which have no bounds, and the rotation in the step, if there is one.
class PlaneSpot {
public:
  /// `part`: that of the rotation step, if there is one.
  PlaneSpot(const Symmetric &shape, const LinearSpot &spot, const SpotPoint &about,
            const StepPart &part, RuleBuilder &r);

  /// Near where it is brightest. `exponent`: as that of Quadrature.
  SpotPoint brightest(Value exponent);

  /// The place along two axes, and the angle.
  unsigned axes() const { return slope ? 3 : 2; }
  /// The point that is so many standard deviations from the middle, with the normal variables that
  /// are likeliest there. Along the third axis, the angle, the middle goes along.
  using Offset = std::array<int, 3>;
  SpotPoint pointAt(const Offset &z);
  /// How the distance and the light differ at these points from what is linear.
  struct Bend {
    /// Second derivatives of the distance; null ones are those of the axes the other way round, or
    /// of an angle that there is not.
    std::array<std::array<Value, 3>, 3> second;
    std::array<Value, 2> slope; ///< derivatives of the light's logarithm with respect to the place
  };
  SpotMoments moments(const Quadrature &quadrature, const Bend &bend);
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
  struct Slices;
  std::array<Value, 2> centreOf(Value distance);
  Value residualOf(Value distance, const std::array<Value, 2> &centre);
  Value along(Value value, Value slope, Value turn);
  Value formAt(Value turn);
  SumOp sumOfSlices(const Slices &slices, const Quadrature &quadrature, SpotMoments &moments);

  const LinearSpot &spot;
  const SpotPoint &about;
  const StepPart &part;
  RuleBuilder &r;
  Symmetric precision;
  Value lost;                 ///< sqrt of the shape's determinant over that of all spreads
  std::array<Value, 2> moved; ///< precision times the columns of the place
  Value ff, fs, ss;           ///< covariance of the place at one angle
  Value area;                 ///< 2 pi sqrt of its determinant
  /// Its axes: standard deviations along fast, the same along slow, and what is left of slow.
  Value first, share, second;
  std::array<Value, 2> centre, centreSlope;
  Value residual, residualSlope; ///< the distance at the centre
  /// The exponent there, least + 2 slope u + curvature u^2 for the angle u.
  Value least, slope, curvature;
  Value unit; ///< nearly the standard deviation of the angle
};

} // namespace mlir::nb

#endif
