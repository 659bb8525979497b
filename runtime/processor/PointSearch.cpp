#include "runtime/processor/PointSearch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace nanobragg {
namespace {

constexpr double unitRoundoff = 0x1p-24;
/// The margin of an inequality for the roundings of a few factors.
constexpr double slack = 1 + 1e-5;
constexpr double half = 0.5;
constexpr auto none = std::numeric_limits<std::uint32_t>::max(); ///< no orientation

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

PointSearch::PointSearch(const nb_reach_numbers &number, std::span<const IncidentBeam> beams,
                         std::span<const double> direct)
    : grating(number.grating > 0) {
  bound = number.grating;
  std::copy_n(number.cells, 3, cells.begin());
  fringes = number.fringes != 0 &&
            std::all_of(cells.begin(), cells.end(), [](double n) { return n == std::rint(n); });
  std::copy_n(number.form, 6, form.begin());
  const std::size_t bases = direct.size() / 9;
  common = (1 / beams.front().radius) * beams.front().k;
  std::vector<Orientation> all(beams.size() * bases);
  for (std::size_t o = 0; o != all.size(); ++o) {
    const IncidentBeam &beam = beams[o / bases];
    all[o].index = std::uint32_t(o);
    for (std::size_t c = 0; c != 3; ++c) {
      // h = B (d / lambda - k) = B / lambda (d - common) + B (common / lambda - k).
      const Vector axis = vectorAt(direct.data() + 9 * (o % bases) + 3 * c);
      const Vector scaled = beam.radius * axis;
      const double offset = dot(axis, beam.radius * common - beam.k);
      all[o].number[3 * c] = scaled.x;
      all[o].number[3 * c + 1] = scaled.y;
      all[o].number[3 * c + 2] = scaled.z;
      all[o].number[9 + c] = offset;
      longestAxis[c] = std::max(longestAxis[c], norm(scaled));
      largestOffset[c] = std::max(largestOffset[c], std::fabs(offset));
    }
  }
  sortIntoClusters(all);
  for (std::size_t first = 0; first < all.size(); first += loops::latticesAtOnce)
    addCluster(std::span(all).subspan(
        first, std::min<std::size_t>(loops::latticesAtOnce, all.size() - first)));
}

/// Halves, along the number in which they differ most, down to what is looked at together.
void PointSearch::sortIntoClusters(std::span<Orientation> all) {
  constexpr std::size_t atOnce = loops::latticesAtOnce;
  if (all.size() <= atOnce)
    return;
  std::size_t widest = 0;
  double width = -1;
  for (std::size_t n = 0; n != all.front().number.size(); ++n) {
    const auto [least, most] = std::minmax_element(
        all.begin(), all.end(),
        [n](const Orientation &a, const Orientation &b) { return a.number[n] < b.number[n]; });
    const double is = most->number[n] - least->number[n];
    if (is > width)
      widest = n, width = is;
  }
  const std::size_t middle = (all.size() / 2 + atOnce - 1) / atOnce * atOnce;
  std::nth_element(all.begin(), all.begin() + std::ptrdiff_t(middle), all.end(),
                   [widest](const Orientation &a, const Orientation &b) {
                     return a.number[widest] < b.number[widest];
                   });
  sortIntoClusters(all.first(middle));
  sortIntoClusters(all.subspan(middle));
}

void PointSearch::addCluster(std::span<const Orientation> alike) {
  loops::Cluster &into = clusters.emplace_back();
  constexpr std::size_t atOnce = loops::latticesAtOnce;
  for (std::size_t i = 0; i != atOnce; ++i) {
    const Orientation &o = alike[i < alike.size() ? i : 0];
    orientationOf.push_back(i < alike.size() ? o.index : none);
    for (std::size_t n = 0; n != 9; ++n)
      into.lattices.axis[n][i] = float(o.number[n]);
    for (std::size_t c = 0; c != 3; ++c)
      into.lattices.offset[c][i] = float(o.number[9 + c]);
  }
  const auto middle = [&](std::size_t n) {
    double sum = 0;
    for (const Orientation &o : alike)
      sum += o.number[n];
    return float(sum / double(alike.size()));
  };
  for (std::size_t n = 0; n != 9; ++n)
    into.axis[n] = middle(n);
  for (std::size_t c = 0; c != 3; ++c) {
    into.offset[c] = middle(9 + c);
    double axis = 0, offset = 0;
    for (const Orientation &o : alike) {
      const double x = o.number[3 * c] - double(into.axis[3 * c]),
                   y = o.number[3 * c + 1] - double(into.axis[3 * c + 1]),
                   z = o.number[3 * c + 2] - double(into.axis[3 * c + 2]);
      axis = std::max(axis, std::sqrt(x * x + y * y + z * z));
      offset = std::max(offset, std::fabs(o.number[9 + c] - double(into.offset[c])));
    }
    into.axisSpread[c] = float(axis * slack);
    into.offsetSpread[c] = float(offset * slack);
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

// The test of a grating: x (pi - (2 pi - 4) x) <= sin(pi x) for 0 <= x <= 1/2, where both sides are
// equal and the difference's slope at 0 is 0 and the second derivative changes its sign once. So
// where the product of max(1, N |sin(pi x)|) is at most `bound`, so is that of max(1, p), p the
// left side times N. An error e of x makes p at most (1 + e / x) times as large, p being concave
// and 0 at 0, and where p > 1, x > 1 / (pi N): max(1, p) grows by 1 + pi N e at most.
//
// With fringes, |sin(pi N x)| / (N |sin(pi x)|) <= s / max(s, p) for any s that is not smaller than
// the sine. Errors move sine and p by pi N e at most, and by the rounding of N x.
//
// The test of a form: its root is a norm, and grows by no more than the norm of the error.
PointSearch::Test PointSearch::testFor(double longest) const {
  const std::array<double, 3> error = errorsOf(longest);
  Test test;
  double limit = slack;
  if (grating) {
    limit *= bound;
    test.possible = true;
    for (std::size_t c = 0; c != 3; ++c) {
      const double n = cells[c], growth = std::numbers::pi * n * error[c];
      test.possible &= n >= 1 && growth < half;
      limit *= 1 + growth;
      test.envelope.first[c] = float(n * std::numbers::pi);
      test.envelope.second[c] = float(n * (2 * std::numbers::pi - 4));
      test.envelope.cells[c] = float(n);
      test.envelope.error[c] = float((growth + 4 * std::numbers::pi * n * unitRoundoff) * slack);
    }
    test.envelope.fringeBound = fringes ? float(bound * slack) : 0;
  } else {
    const auto &[x, y, z] = error;
    const double norm =
        std::sqrt(form[0] * x * x + form[1] * y * y + form[2] * z * z + std::fabs(form[3]) * x * y +
                  std::fabs(form[4]) * x * z + std::fabs(form[5]) * y * z);
    limit *= (1 + norm) * (1 + norm);
    const std::array<double, 3> extents = extentsOf(form);
    test.possible = norm < half;
    std::array<double, 3> reach;
    for (std::size_t c = 0; c != 3; ++c) {
      reach[c] = ((1 + norm) * extents[c] + error[c]) * slack;
      test.possible &= reach[c] < half;
    }
    test.form = {float(form[0]), float(form[1]),
                 float(form[2]), float(form[3]),
                 float(form[4]), float(form[5]),
                 float(limit),   {float(reach[0]), float(reach[1]), float(reach[2])}};
  }
  test.envelope.bound = float(limit);
  test.possible &= limit < std::numeric_limits<float>::max();
  return test;
}

void PointSearch::findLit(const Test &test, const loops::Points &points,
                          const loops::BlockBits &bits) const {
  const auto count = std::int64_t(clusters.size());
  if (grating)
    loops::findLit(clusters.data(), count, test.envelope, points, bits);
  else
    loops::findLit(clusters.data(), count, test.form, points, bits);
}

void PointSearch::sortBits(std::span<const std::uint64_t> bits, std::uint64_t *words) const {
  for (std::size_t word = 0; word != bits.size(); ++word)
    for (std::uint64_t left = bits[word]; left; left &= left - 1) {
      const std::uint32_t o = orientationOf[64 * word + std::size_t(std::countr_zero(left))];
      if (o != none)
        words[o / 64] |= std::uint64_t(1) << o % 64;
    }
}

} // namespace nanobragg
