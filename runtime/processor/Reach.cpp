#include "runtime/processor/Reach.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nanobragg {
namespace {

constexpr double pi = std::numbers::pi;
/// Relative errors of rounding on the way, with room to spare.
constexpr double rounding = 1e-9;
/// More candidates than that are no saving.
constexpr std::size_t mostCandidates = std::size_t(1) << 25;

double norm(Vector v) { return std::sqrt(dot(v, v)); }
Vector vectorAt(const double *p) { return {p[0], p[1], p[2]}; }

/// Columns of the inverse of the matrix with rows a, b, c.
Matrix inverse(Vector a, Vector b, Vector c) {
  const double f = 1 / dot(a, cross(b, c));
  return {{f * cross(b, c), f * cross(c, a), f * cross(a, b)}};
}

bool isFinite(const Matrix &m) {
  return std::all_of(m.column.begin(), m.column.end(), [](Vector v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  });
}

/// The largest eigenvalue of M^T M: the square of the longest half axis of M times the unit ball.
double largestStretch(const Matrix &m) {
  const double a = dot(m.column[0], m.column[0]), b = dot(m.column[1], m.column[1]),
               c = dot(m.column[2], m.column[2]), d = dot(m.column[0], m.column[1]),
               e = dot(m.column[1], m.column[2]), f = dot(m.column[0], m.column[2]);
  const double off = d * d + e * e + f * f, mean = (a + b + c) / 3;
  const double p2 =
      ((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean) + 2 * off) / 6;
  // The largest of the three roots is at most mean + 2 sqrt(p2).
  return mean + 2 * std::sqrt(p2);
}

/// L with L^T L = form (upper triangular); false where the form is not positive.
bool factorize(const double *form, std::array<double, 9> &l) {
  const double xx = form[0], yy = form[1], zz = form[2];
  const double xy = form[3] / 2, xz = form[4] / 2, yz = form[5] / 2;
  l = {};
  if (!(xx > 0))
    return false;
  l[0] = std::sqrt(xx);
  l[1] = xy / l[0];
  l[2] = xz / l[0];
  const double second = yy - l[1] * l[1];
  if (!(second > 1e-12 * yy))
    return false;
  l[4] = std::sqrt(second);
  l[5] = (yz - l[1] * l[2]) / l[4];
  const double third = zz - l[2] * l[2] - l[5] * l[5];
  if (!(third > 1e-12 * zz))
    return false;
  l[8] = std::sqrt(third);
  return std::isfinite(l[0] + l[1] + l[2] + l[4] + l[5] + l[8]);
}

/// Quotients of [low, high] by numbers from `least` to `most`, both positive.
std::pair<double, double> quotients(double low, double high, double least, double most) {
  return {low / (low < 0 ? least : most), high / (high < 0 ? most : least)};
}

} // namespace

Reach::Reach(const nb_kernel_descriptor &kernel, const void *const *arguments,
             const void *workspace, int threads) {
  std::int64_t at[NB_REACH_TABLES];
  kernel.reach(arguments, at);
  const auto table = [&](nb_reach_table t) {
    return static_cast<const double *>(workspace) + at[t];
  };
  const double *number = table(NB_REACH_NUMBER);
  const auto count = [&](int i) { return std::int64_t(number[i]); };
  panels = count(NB_REACH_PANELS);
  slowPixels = count(NB_REACH_SLOW_PIXELS);
  fastPixels = count(NB_REACH_FAST_PIXELS);
  beams = count(NB_REACH_BEAMS);
  bases = count(NB_REACH_BASES);
  groupSize = std::max<std::int64_t>(count(NB_REACH_GROUP), 1);
  lanes = count(NB_REACH_LANES);
  dark = number[NB_REACH_DARK] != 0;
  fast = {std::max<std::int64_t>(count(NB_REACH_FAST_MIN), 0),
          std::min(count(NB_REACH_FAST_MAX), fastPixels - 1)};
  slow = {std::max<std::int64_t>(count(NB_REACH_SLOW_MIN), 0),
          std::min(count(NB_REACH_SLOW_MAX), slowPixels - 1)};
  pixelSize = number[NB_REACH_PIXEL_SIZE];
  const double oversample = number[NB_REACH_OVERSAMPLE];
  margin = pixelSize * (1 / (2 * oversample) - rounding);
  const std::int64_t depths = count(NB_REACH_DEPTHS);
  samplesPerPixel = oversample * oversample * double(depths);

  everything = !factorize(number + NB_REACH_FORM, reduce) || !(pixelSize > 0) ||
               !(oversample >= 1) || depths < 1;
  for (std::int64_t i = 0; i != beams; ++i) {
    const double r = 1 / table(NB_REACH_WAVELENGTH)[i];
    beam.push_back({r * vectorAt(table(NB_REACH_INCIDENT) + 3 * i), r});
    everything |= !(r > 0) || !std::isfinite(r);
  }
  if (everything)
    return;
  // The inverse of L, column by column.
  const Matrix unreduce =
      inverse({reduce[0], reduce[1], reduce[2]}, {0, reduce[4], reduce[5]}, {0, 0, reduce[8]});
  double longest = 0;
  for (std::int64_t i = 0; i != bases; ++i) {
    const double *d = table(NB_REACH_DIRECT) + 9 * i;
    const Matrix a = inverse(vectorAt(d), vectorAt(d + 3), vectorAt(d + 6));
    Matrix b{{a * unreduce.column[0], a * unreduce.column[1], a * unreduce.column[2]}};
    for (Vector &v : b.column)
      v = (1 + rounding) * v;
    everything |= !isFinite(a) || !isFinite(b);
    longest = std::max(longest, largestStretch(b));
    reciprocal.push_back(a);
    ellipsoid.push_back(b);
  }
  halfAxis = std::sqrt(longest);
  const double *depth = table(NB_REACH_DEPTH);
  const double ends[] = {*std::min_element(depth, depth + depths),
                         *std::max_element(depth, depth + depths)};
  for (int end = 0; end != 2; ++end)
    for (std::int64_t p = 0; p != panels; ++p) {
      const auto axis = [&](nb_reach_table t) { return vectorAt(table(t) + 3 * p); };
      const Vector f = axis(NB_REACH_FAST_AXIS), s = axis(NB_REACH_SLOW_AXIS);
      const Vector o = axis(NB_REACH_ORIGIN) + ends[end] * axis(NB_REACH_NORMAL);
      const double det = dot(f, cross(s, o));
      const View view{(1 / det) * cross(s, o), (1 / det) * cross(o, f), (1 / det) * cross(f, s)};
      everything |= !std::isfinite(dot(view.fast, view.fast) + dot(view.slow, view.slow) +
                                   dot(view.forward, view.forward));
      views[std::size_t(end)].push_back(view);
    }
  // The reflections overlap where the ellipsoid is as large as the cell of the reciprocal lattice:
  // bounds are good for nothing then, and long to find.
  everything |= std::any_of(beam.begin(), beam.end(),
                            [&](const Beam &b) { return halfAxis > b.radius / 4; });
  if (everything)
    return;
  found.resize(std::size_t(panels * beams * groups()));
  const auto one = [&](std::int64_t i) { findCandidates(i / groups(), i % groups()); };
  const std::int64_t all = beams * groups();
  if (threads == 1 || all == 1) {
    for (std::int64_t i = 0; i != all; ++i)
      one(i);
  } else {
    tbb::task_arena arena(threads);
    arena.execute([&] { tbb::parallel_for(std::int64_t(0), all, one); });
  }
  std::size_t candidates = 0;
  for (const Group &group : found)
    candidates += group.candidates.size();
  everything = candidates > mostCandidates;
}

Range Reach::pixels(double low, double high, Range inside) const {
  // Points of pixel i lie from i * size + margin to (i + 1) * size - margin.
  const double first = std::ceil((low + margin) / pixelSize - 1);
  const double last = std::floor((high - margin) / pixelSize);
  const auto clamped = [&](double x) {
    return std::int64_t(std::clamp(x, double(inside.first) - 1, double(inside.last) + 1));
  };
  return {std::max(clamped(first), inside.first), std::min(clamped(last), inside.last)};
}

static void include(Range &range, Range other) {
  if (other.last < other.first)
    return;
  if (range.last < range.first)
    range = other;
  range = {std::min(range.first, other.first), std::max(range.last, other.last)};
}

/// Both depths, and all between, which lie in the box around both: along a ray, F and S are linear
/// in the depth.
static Spot joined(Spot a, Spot b) {
  if (a.empty())
    return b;
  if (!b.empty()) {
    include(a.fast, b.fast);
    include(a.slow, b.slow);
  }
  return a;
}

Spot Reach::spotOf(std::int64_t panel, const Beam &b, const Matrix &m, Vector x) const {
  const double length = norm(x);
  const Vector u = (1 / length) * x, vu = transposedTimes(m, u);
  const double extent2 = dot(vu, vu), extent = std::sqrt(extent2);
  // A point x + delta on the sphere has u . delta = radius - length - kappa, 0 <= kappa <= slack.
  const double slack = halfAxis * halfAxis / b.radius + rounding * extent;
  const double high = b.radius - length + rounding * extent, low = high - slack;
  if (low > extent || high < -extent)
    return {};
  const double nearest = low <= 0 && high >= 0 ? 0 : std::min(std::abs(low), std::abs(high));
  const double left = std::sqrt(std::max(0.0, 1 - nearest * nearest / extent2));
  const double middle = (low + high) / 2;
  const auto spot = [&](const View &view) -> Spot {
    const Vector vz = transposedTimes(m, view.forward);
    const double z = dot(view.forward, x), ez = norm(vz);
    if (z + ez <= 0)
      return {};
    if (z - ez <= 1e-3 * z)
      return {fast, slow};
    const auto range = [&](Vector axis, Range inside) {
      const double at = dot(axis, x) / z;
      const Vector vm = transposedTimes(m, axis - at * view.forward);
      const double along = dot(vm, vu) / extent2;
      const double across = std::sqrt(std::max(0.0, dot(vm, vm) - along * dot(vm, vu)));
      const double half = left * across + slack / 2 * std::abs(along) + rounding * norm(vm);
      const auto [least, most] =
          quotients(middle * along - half, middle * along + half, z - ez, z + ez);
      return pixels(at + least, at + most, inside);
    };
    return {range(view.fast, fast), range(view.slow, slow)};
  };
  const std::size_t p = std::size_t(panel);
  const Spot front = spot(views[0][p]);
  return samplesPerPixel == 1 ? front : joined(front, spot(views[1][p]));
}

Spot Reach::spotOfBall(std::int64_t panel, Vector x, double radius) const {
  const auto spot = [&](const View &view) -> Spot {
    const double z = dot(view.forward, x), ez = radius * norm(view.forward);
    if (z + ez <= 0)
      return {};
    if (z - ez <= 1e-3 * z)
      return {fast, slow};
    const auto range = [&](Vector axis, Range inside) {
      const double at = dot(axis, x) / z;
      const double half = radius * norm(axis - at * view.forward) / (z - ez);
      return pixels(at - half, at + half, inside);
    };
    return {range(view.fast, fast), range(view.slow, slow)};
  };
  const std::size_t p = std::size_t(panel);
  return joined(spot(views[0][p]), spot(views[1][p]));
}

/// All directions in which the detector lies.
Reach::Cone Reach::coneOf() const {
  std::vector<Vector> corners;
  for (const std::vector<View> &depth : views)
    for (const View &v : depth) {
      // The inverse of the view: its columns are f, s and o.
      const Matrix back = inverse(v.fast, v.slow, v.forward);
      for (double f : {double(fast.first), double(fast.last + 1)})
        for (double s : {double(slow.first), double(slow.last + 1)}) {
          const Vector p = back * Vector{f * pixelSize, s * pixelSize, 1};
          corners.push_back((1 / norm(p)) * p);
        }
    }
  Vector sum;
  for (Vector c : corners)
    sum = sum + c;
  const double length = norm(sum);
  if (!(length > 1e-6 * double(corners.size())))
    return {};
  Cone cone{(1 / length) * sum, 0};
  double least = 1;
  for (Vector c : corners)
    least = std::min(least, dot(c, cone.axis));
  // A cone of less than a right angle is convex: it has what is between the corners.
  if (!(least > 0.01))
    return {};
  cone.angle = std::acos(least) + 1e-6;
  return cone;
}

void Reach::findCandidates(std::int64_t beamNumber, std::int64_t groupNumber) {
  const Beam &b = beam[std::size_t(beamNumber)];
  const std::int64_t first = groupNumber * groupSize, last = std::min(first + groupSize, bases);
  // The basis in the middle, and how far the others turn points away from where it has them.
  Matrix center;
  for (std::int64_t i = first; i != last; ++i)
    for (int c = 0; c != 3; ++c)
      center.column[c] = center.column[c] +
                         (1 / double(last - first)) * reciprocal[std::size_t(i)].column[c];
  const Matrix direct = inverse(center.column[0], center.column[1], center.column[2]);
  // `direct` has as columns what are the rows of the inverse, of the transposed matrix.
  const std::array<Vector, 3> axes = direct.column;
  double turn = 0;
  for (std::int64_t i = first; i != last; ++i) {
    Matrix away;
    // (A_i - A_c) D_c, D_c with rows `axes`: column j is the sum over c of the difference of column c
    // times component j of axis c.
    for (int c = 0; c != 3; ++c) {
      const Vector difference = reciprocal[std::size_t(i)].column[c] - center.column[c];
      away.column[0] = away.column[0] + axes[c].x * difference;
      away.column[1] = away.column[1] + axes[c].y * difference;
      away.column[2] = away.column[2] + axes[c].z * difference;
    }
    turn = std::max(turn, largestStretch(away));
  }
  turn = std::sqrt(turn) * (1 + rounding);

  const Cone cone = coneOf();
  // q of all directions in the cone, widened by the window: bounds of h, k and l.
  const double longestQ = 2 * b.radius + halfAxis;
  const double widest = halfAxis + turn * longestQ;
  const double angle = std::min(pi, cone.angle + std::asin(std::min(1.0, widest / b.radius)));
  std::array<Range, 3> bounds;
  for (int c = 0; c != 3; ++c) {
    const double length = norm(axes[c]);
    const double toAxis = cone.angle > pi
                              ? 0
                              : std::acos(std::clamp(dot(axes[c], cone.axis) / length, -1.0, 1.0));
    const double most = cone.angle > pi ? 1 : std::cos(std::max(0.0, toAxis - angle));
    const double least = cone.angle > pi ? -1 : std::cos(std::min(pi, toAxis + angle));
    const double at = dot(axes[c], b.k), room = length * widest + 1e-6;
    bounds[c] = {std::int64_t(std::ceil(length * b.radius * least - at - room)),
                 std::int64_t(std::floor(length * b.radius * most - at + room))};
    if (std::max(std::abs(bounds[c].first), std::abs(bounds[c].last)) > (1 << 24))
      return void(everything = true);
  }
  // Lines along the axis with the most reflections.
  int along = 0;
  for (int c = 1; c != 3; ++c)
    if (bounds[c].last - bounds[c].first > bounds[along].last - bounds[along].first)
      along = c;
  const int i0 = (along + 1) % 3, i1 = (along + 2) % 3;
  const Vector step = center.column[along];
  const double step2 = dot(step, step), stepLength = std::sqrt(step2);
  const double cosAngle = std::cos(angle);
  const std::size_t groupIndex = std::size_t(beamNumber * groups() + groupNumber);
  const std::size_t panelStride = std::size_t(beams * groups());

  const auto look = [&](const std::array<std::int64_t, 3> &n, Vector x) {
    const double q = norm(x - b.k), window = halfAxis + turn * q;
    const double length = norm(x);
    if (length > b.radius + window || length < b.radius - window - window * window / b.radius)
      return;
    if (cone.angle <= pi && dot(x, cone.axis) < cosAngle * length)
      return;
    for (std::int64_t p = 0; p != panels; ++p) {
      const Spot spot = spotOfBall(p, x, window);
      if (spot.empty())
        continue;
      Group &group = found[std::size_t(p) * panelStride + groupIndex];
      group.candidates.push_back({std::int32_t(n[0]), std::int32_t(n[1]), std::int32_t(n[2]),
                                  std::int32_t(spot.slow.first), std::int32_t(spot.slow.last)});
      group.mostRows =
          std::max(group.mostRows, std::int32_t(spot.slow.last - spot.slow.first + 1));
    }
  };
  std::array<std::int64_t, 3> n{};
  for (n[i0] = bounds[i0].first; n[i0] <= bounds[i0].last; ++n[i0])
    for (n[i1] = bounds[i1].first; n[i1] <= bounds[i1].last; ++n[i1]) {
      const Vector foot = b.k + double(n[i0]) * center.column[i0] + double(n[i1]) * center.column[i1];
      // |foot + t step| = R for t = middle +- sqrt(R^2 - off^2) / |step|.
      const double middle = -dot(foot, step) / step2;
      const double off2 = std::max(0.0, dot(foot, foot) - middle * middle * step2);
      const double outer = b.radius + widest, inner = b.radius - widest - widest * widest / b.radius;
      if (outer * outer < off2)
        continue;
      const double far = std::sqrt(outer * outer - off2) / stepLength + 1e-6;
      const double near = inner > 0 && inner * inner > off2
                              ? std::sqrt(inner * inner - off2) / stepLength - 1e-6
                              : -1;
      const auto part = [&](double low, double high) {
        const std::int64_t begin =
            std::max(bounds[along].first, std::int64_t(std::ceil(low)));
        const std::int64_t end = std::min(bounds[along].last, std::int64_t(std::floor(high)));
        for (n[along] = begin; n[along] <= end; ++n[along])
          look(n, foot + double(n[along]) * step);
      };
      if (near <= 0) {
        part(middle - far, middle + far);
      } else {
        part(middle - far, middle - near);
        part(std::max(middle + near, std::floor(middle - near) + 0.5), middle + far);
      }
    }
  for (std::int64_t p = 0; p != panels; ++p) {
    auto &candidates = found[std::size_t(p) * panelStride + groupIndex].candidates;
    std::sort(candidates.begin(), candidates.end(), [](const Candidate &x, const Candidate &y) {
      return x.firstRow < y.firstRow;
    });
  }
}

} // namespace nanobragg
