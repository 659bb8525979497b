#include "lib/Estimate/AverageError.h"

#include "lib/Estimate/RepresentativePlaces.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace nanobragg {
namespace {

/// The averaged variables, in the order of the variables of ScatteringVector.
enum Variable { RotationA, RotationB, RotationC, Wavelength, Hdiv, Vdiv, Fast, Slow, Phi, Count };
using Deviations = std::array<double, Count>;

constexpr double varianceOf(int variable) { return variable < Fast ? 1 : 1.0 / 12; }

/// The scattering vector in 1/m, in the crystal's frame, of one place: a function of normal
/// variables of standard deviation 1 and uniform ones between -1/2 and 1/2.
class ScatteringVector {
public:
  ScatteringVector(const Experiment &e, const Report &r, const DetectorPlace &place)
      : e(e), place(place), wavelength(r.wavelength) {
    const Vec3 &abc = e.crystal.mosaicAbc;
    const double all = e.crystal.mosaicSpread;
    width = {all + abc[0],
             all + abc[1],
             all + abc[2],
             e.variant.bandwidth == Bandwidth::Normal ? e.beam.bandwidthSigma : 0,
             e.beam.hdivSigma,
             e.beam.vdivSigma,
             e.detector.pixelSize / double(e.detector.oversample),
             e.detector.pixelSize / double(e.detector.oversample),
             e.goniometer.osc * e.goniometer.phiStepFraction};
    vertical = unit(cross(e.beam.direction, e.beam.polarizationAxis));
    for (std::size_t i = 0; i != 3; ++i)
      axes[i] = unit(r.reciprocalCell.vectors[i]);
  }

  Vec3 at(const Deviations &t) const {
    const auto moved = [&](Variable v) { return width[v] * t[v]; };
    Vec3 ray = sum(place.position, sum(scaled(place.panel.fastAxis, moved(Fast)),
                                       scaled(place.panel.slowAxis, moved(Slow))));
    Vec3 beam = rotatedAbout(vertical, moved(Hdiv),
                             rotatedAbout(e.beam.polarizationAxis, moved(Vdiv), e.beam.direction));
    Vec3 q = scaled(difference(unit(ray), beam), 1 / (wavelength * (1 + moved(Wavelength))));
    const Vec3 turn =
        sum(scaled(axes[0], moved(RotationA)),
            sum(scaled(axes[1], moved(RotationB)), scaled(axes[2], moved(RotationC))));
    const double angle = length(turn);
    if (angle > 0)
      q = rotatedAbout(scaled(turn, 1 / angle), -angle, q);
    return rotatedAbout(e.goniometer.spindleAxis, -moved(Phi), q);
  }

  Deviations width;

private:
  const Experiment &e;
  const DetectorPlace &place;
  double wavelength;
  Vec3 vertical{};
  std::array<Vec3, 3> axes{};
};

using Square = std::array<Vec3, 3>;

void addOuter(Square &to, const Vec3 &v, double weight) {
  for (std::size_t i = 0; i != 3; ++i)
    to[i] = sum(to[i], scaled(v, weight * v[i]));
}
Square inverse(const Square &m) {
  const Vec3 x = cross(m[1], m[2]), y = cross(m[2], m[0]), z = cross(m[0], m[1]);
  const double f = 1 / dot(m[0], x);
  return {scaled(x, f), scaled(y, f), scaled(z, f)}; // the matrix is symmetric
}
double form(const Vec3 &x, const Square &m, const Vec3 &y) {
  return x[0] * dot(m[0], y) + x[1] * dot(m[1], y) + x[2] * dot(m[2], y);
}

/// The covariance of a squared lattice factor, in 1/m^2.
Square covarianceOfSpot(const Experiment &e, const Report &r) {
  const double variance = rowOf(e.variant.shape).variance / e.crystal.fudge;
  Square c{};
  for (std::size_t i = 0; i != 3; ++i)
    addOuter(c, r.reciprocalCell.vectors[i],
             variance / std::pow(e.crystal.ncells[i] * units::angstrom, 2));
  return c;
}

/// By the variables, and what comes of their spreads and the spot together.
struct Linear {
  std::array<Vec3, Count> slope{};
  Square covariance;
};

constexpr double step = 0.02;

Vec3 at(const ScatteringVector &q, int i, double x, int j, double y) {
  Deviations t{};
  t[std::size_t(i)] += x;
  t[std::size_t(j)] += y;
  return q.at(t);
}

Linear linear(const ScatteringVector &q, const Square &ofSpot) {
  Linear l{.covariance = ofSpot};
  for (int i = 0; i != Count; ++i)
    if (q.width[std::size_t(i)] != 0) { // variables without spread move nothing
      Vec3 &slope = l.slope[std::size_t(i)];
      slope = scaled(difference(at(q, i, step, i, 0), at(q, i, -step, i, 0)), 1 / (2 * step));
      addOuter(l.covariance, slope, varianceOf(i));
    }
  return l;
}

/// Given that x is seen, the variables have the covariance D - D J^T C^-1 J D, with their own D and
/// C = C0 + J D J^T. Terms of second order, H, move the spot by half the sum over H times that: a
/// shift s, of which a normal distribution with covariance C changes by at most 0.6 sqrt(s C^-1 s).
double errorAt(const ScatteringVector &q, const Square &ofSpot) {
  constexpr double steepest = 0.6;
  const Linear l = linear(q, ofSpot);
  const Square precision = inverse(l.covariance);
  Vec3 shift{};
  for (int i = 0; i != Count; ++i)
    for (int j = 0; j <= i; ++j) {
      if (q.width[std::size_t(i)] == 0 || q.width[std::size_t(j)] == 0)
        continue;
      const double seen = (i == j ? varianceOf(i) : 0) -
                          varianceOf(i) * varianceOf(j) *
                              form(l.slope[std::size_t(i)], precision, l.slope[std::size_t(j)]);
      const Vec3 curve = difference(sum(at(q, i, step, j, step), at(q, i, -step, j, -step)),
                                    sum(at(q, i, step, j, -step), at(q, i, -step, j, step)));
      const double times = i == j ? 1 : 2;
      shift = sum(shift, scaled(curve, times * seen / (8 * step * step)));
    }
  return steepest * std::sqrt(form(shift, precision, shift));
}

/// The largest error over the places, without the spreads from `first` to `last`.
double largestError(const Experiment &e, const Report &r, int first = 0, int last = -1) {
  const Square ofSpot = covarianceOfSpot(e, r);
  double largest = 0;
  for (const DetectorPlace &place : representativePlaces(e, r)) {
    ScatteringVector q(e, r, place);
    for (int i = first; i <= last; ++i)
      q.width[std::size_t(i)] = 0;
    largest = std::max(largest, errorAt(q, ofSpot));
  }
  return largest;
}

struct WideVariable {
  Variable first, last;
  const char *isTooWide;
};
constexpr WideVariable wideVariables[] = {
    {RotationA, RotationC, "the mosaicity is too wide: --average=draws has no such bound"},
    {Wavelength, Wavelength,
     "the bandwidth is too wide: give several lines of a smaller one (--spectrum)"},
    {Hdiv, Vdiv, "the divergence is too wide: --average=draws has no such bound"},
    {Fast, Slow, "pixels are too wide: give more sub-pixels (-oversample)"},
    {Phi, Phi, "the steps of the rotation are too wide: give more of them (-phisteps)"},
};

} // namespace

double averageError(const Experiment &e, const Report &r) { return largestError(e, r); }

double litShare(const Experiment &e, const Report &r) {
  const Square ofSpot = covarianceOfSpot(e, r);
  const auto determinant = [](const Square &m) { return dot(m[0], cross(m[1], m[2])); };
  double least = 1;
  for (const DetectorPlace &place : representativePlaces(e, r))
    least = std::min(
        least, std::sqrt(determinant(ofSpot) /
                         determinant(linear(ScatteringVector(e, r, place), ofSpot).covariance)));
  return least;
}

std::optional<std::string> inexactAverage(const Experiment &e, const Report &r) {
  if (e.variant.averaging != Averaging::Closed)
    return {};
  const double estimate = averageError(e, r), error = averageErrorMayBe * estimate;
  if (!(error > e.average.tolerance))
    return {};
  const WideVariable *widest = nullptr;
  double without = estimate;
  for (const WideVariable &spread : wideVariables)
    if (const double left = largestError(e, r, spread.first, spread.last); left < without) {
      widest = &spread;
      without = left;
    }
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                "averages in closed form are off by up to %.1g of a spot's peak "
                "(--average-tolerance %g)",
                error, e.average.tolerance);
  return numbers + (widest ? std::string("; ") + widest->isTooWide : std::string());
}

} // namespace nanobragg
