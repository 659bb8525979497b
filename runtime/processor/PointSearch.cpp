#include "runtime/processor/PointSearch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace nanobragg {
namespace {

constexpr double unitRoundoff = 0x1p-24;
/// What is left of an inequality after the roundings of a few factors.
constexpr double slack = 1 + 1e-5;
constexpr double half = 0.5;
constexpr double pi = std::numbers::pi;

/// How far the ellipsoid form(x) <= 1 reaches along each axis; infinite where it is none.
std::array<double, 3> extentsOf(const std::array<double, 6> &f) {
  const double xy = f[3] / 2, xz = f[4] / 2, yz = f[5] / 2;
  const double xx = f[1] * f[2] - yz * yz, yy = f[0] * f[2] - xz * xz, zz = f[0] * f[1] - xy * xy;
  const double det = f[0] * xx - xy * (xy * f[2] - yz * xz) + xz * (xy * yz - f[1] * xz);
  if (!(f[0] > 0 && zz > 0 && det > 0))
    return {INFINITY, INFINITY, INFINITY};
  return {std::sqrt(xx / det), std::sqrt(yy / det), std::sqrt(zz / det)};
}

} // namespace

PointSearch::PointSearch(const double *number, std::span<const IncidentBeam> beams,
                         std::span<const double> direct)
    : grating(number[NB_REACH_GRATING] > 0) {
  bound = number[NB_REACH_GRATING];
  std::copy_n(number + NB_REACH_CELLS, 3, cells.begin());
  std::copy_n(number + NB_REACH_FORM, 6, form.begin());
  const std::size_t bases = direct.size() / 9;
  orientations = beams.size() * bases;
  common = (1 / beams.front().radius) * beams.front().k;
  constexpr std::size_t atOnce = loops::latticesAtOnce;
  lattices.resize((orientations + atOnce - 1) / atOnce);
  for (std::size_t o = 0; o != orientations; ++o) {
    loops::Lattices &into = lattices[o / atOnce];
    const IncidentBeam &beam = beams[o / bases];
    for (std::size_t c = 0; c != 3; ++c) {
      // h = B (d / lambda - k) = B / lambda (d - common) + B (common / lambda - k).
      const Vector axis = vectorAt(direct.data() + 9 * (o % bases) + 3 * c);
      const double offset = dot(axis, beam.radius * common - beam.k);
      into.axis[3 * c][o % atOnce] = float(beam.radius * axis.x);
      into.axis[3 * c + 1][o % atOnce] = float(beam.radius * axis.y);
      into.axis[3 * c + 2][o % atOnce] = float(beam.radius * axis.z);
      into.offset[c][o % atOnce] = float(offset);
      longestAxis[c] = std::max(longestAxis[c], beam.radius * std::sqrt(dot(axis, axis)));
      largestOffset[c] = std::max(largestOffset[c], std::fabs(offset));
    }
  }
}

// Inputs are rounded, three products are added up, each time with an error of at most one unit of
// the largest partial sum.
std::array<double, 3> PointSearch::errorsOf(double longest) const {
  std::array<double, 3> errors;
  for (std::size_t c = 0; c != 3; ++c)
    errors[c] = 8 * unitRoundoff * (longestAxis[c] * longest + largestOffset[c]);
  return errors;
}

// Of a grating: x (pi - (2 pi - 4) x) <= sin(pi x) for 0 <= x <= 1/2, where both sides are equal
// and, of the difference, the slope at 0 is 0 and the second derivative changes its sign once. So
// where the product of max(1, N |sin(pi x)|) is at most `bound`, so is that of max(1, p), p the
// left side times N. An error e of x makes p at most (1 + e / x) times as large, p being concave
// and 0 at 0, and where p > 1, x > 1 / (pi N): max(1, p) grows by 1 + pi N e at most.
//
// Of a form: its root is a norm, and grows by no more than the norm of the error.
PointSearch::Test PointSearch::testFor(double longest) const {
  const std::array<double, 3> error = errorsOf(longest);
  Test test;
  double limit = slack;
  if (grating) {
    limit *= bound;
    test.possible = true;
    for (std::size_t c = 0; c != 3; ++c) {
      const double n = cells[c], growth = pi * n * error[c];
      test.possible &= n >= 1 && growth < half;
      limit *= 1 + growth;
      test.envelope.first[c] = float(n * pi);
      test.envelope.second[c] = float(n * (2 * pi - 4));
    }
  } else {
    const auto &[x, y, z] = error;
    const double norm =
        std::sqrt(form[0] * x * x + form[1] * y * y + form[2] * z * z + std::fabs(form[3]) * x * y +
                  std::fabs(form[4]) * x * z + std::fabs(form[5]) * y * z);
    limit *= (1 + norm) * (1 + norm);
    const std::array<double, 3> extents = extentsOf(form);
    test.possible = norm < half;
    for (std::size_t c = 0; c != 3; ++c)
      test.possible &= (1 + norm) * extents[c] + error[c] < half;
    test.form = {float(form[0]), float(form[1]), float(form[2]), float(form[3]),
                 float(form[4]), float(form[5]), float(limit)};
  }
  test.envelope.bound = float(limit);
  test.possible &= limit < std::numeric_limits<float>::max();
  return test;
}

void PointSearch::findLit(const Test &test, const loops::Points &points,
                          std::uint64_t *words) const {
  const auto count = std::int64_t(lattices.size());
  if (grating)
    loops::findLit(lattices.data(), count, test.envelope, points, words);
  else
    loops::findLit(lattices.data(), count, test.form, points, words);
  // Of the last lattices, some are none.
  if (orientations % 64 != 0)
    words[orientations / 64] &= (std::uint64_t(1) << orientations % 64) - 1;
}

} // namespace nanobragg
