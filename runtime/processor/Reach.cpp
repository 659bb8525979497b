#include "runtime/processor/Reach.h"

#include "runtime/processor/Flags.h"
#include "runtime/processor/RowOrder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

/// Relative errors of rounding on the way, with room to spare.
constexpr double rounding = 1e-9;
/// More candidates than that are no saving.
constexpr std::size_t mostCandidates = std::size_t(1) << 25;

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

Vector vectorOf(const double (&v)[3]) { return {v[0], v[1], v[2]}; }

} // namespace

Reach::Reach(const nb_kernel_descriptor &kernel, const void *const *arguments,
             const void *workspace, ThreadTeam &team) {
  // A kernel of another build may know fewer entries than this program, or more.
  std::vector<std::int64_t> written(
      std::max(sizeof(nb_reach_tables), std::size_t(kernel.reach_tables_size)) / 8);
  kernel.reach(arguments, reinterpret_cast<nb_reach_tables *>(written.data()));
  nb_reach_tables at;
  std::memcpy(&at, written.data(), sizeof(at));
  const auto table = [&](std::int64_t nb_reach_tables::*which) {
    return static_cast<const double *>(workspace) + at.*which;
  };
  using T = nb_reach_tables;
  nb_reach_numbers number = {};
  std::memcpy(&number, table(&T::numbers),
              std::min(sizeof(number), std::size_t(kernel.reach_numbers_size)));
  panels = std::int64_t(number.panels);
  slowPixels = std::int64_t(number.slow_pixels);
  fastPixels = std::int64_t(number.fast_pixels);
  beams = std::int64_t(number.beams);
  bases = std::int64_t(std::min(number.bases, 0x1p62));
  groupSize = std::max<std::int64_t>(std::int64_t(number.group), 1);
  blockColumns = std::int64_t(number.block_fast);
  blockRows = std::int64_t(number.block_slow);
  dark = number.dark != 0;
  fast = {std::max<std::int64_t>(std::int64_t(number.fast_min), 0),
          std::min(std::int64_t(number.fast_max), fastPixels - 1)};
  slow = {std::max<std::int64_t>(std::int64_t(number.slow_min), 0),
          std::min(std::int64_t(number.slow_max), slowPixels - 1)};
  if (number.spots != 0) {
    if (number.directions != 0)
      listed = table(&T::direction);
    readSpots(table(&T::spot_place), table(&T::spot_extent));
    return;
  }
  pixelSize = number.pixel_size;
  oversample = std::max<std::int64_t>(std::int64_t(number.oversample), 0);
  depths.assign(table(&T::depth), table(&T::depth) + std::int64_t(number.depths));
  perPixel = std::int64_t(number.directions);
  const bool areAverages = number.averaged != 0;
  samplesPerPixel =
      double(perPixel && !areAverages ? perPixel : oversample * oversample * std::ssize(depths));
  pairsOfBlock = double(beams) * double(bases);
  hasDepth = depths.size() > 1;

  for (std::int64_t i = 0; i != beams; ++i) {
    const double r = 1 / table(&T::wavelength)[i];
    beam.push_back({r * vectorAt(table(&T::incident) + 3 * i), r});
    everything |= !(r > 0) || !std::isfinite(r);
  }
  const bool areCurved = number.curved != 0;
  if (perPixel == 0)
    for (std::int64_t p = 0; p != panels; ++p) {
      const auto axis = [&](std::int64_t T::*t) { return vectorAt(table(t) + 3 * p); };
      const std::array place{axis(&T::origin), axis(&T::fast_axis), axis(&T::slow_axis),
                             axis(&T::normal)};
      if (areCurved)
        curved.emplace_back(axis(&T::curved_beam), axis(&T::curved_fast), axis(&T::curved_slow),
                            place);
      else
        flat.push_back({place[0], place[1], place[2], place[3]});
    }
  else
    direction = table(&T::direction);
  // A panel behind the crystal has the directions of its points turned round.
  for (std::size_t i = 0; i != curved.size() * depths.size(); ++i)
    everything |= !(table(&T::radius)[i] > 0);
  everything |= bases < 1 || samplesPerPixel < 1 || beam.empty();
  // Lists count in 32 bits, and in averages the reflections of a box in 64.
  const double mostCounted = areAverages ? 0x1p63 : 0x1p31;
  if (!(number.bases * (areAverages ? 1 : number.beams) < mostCounted) ||
      std::max(number.fast_pixels, number.slow_pixels) >= 0x1p31)
    throw std::runtime_error(
        "there are too many beams, orientations, reflections or pixels to list those with light; "
        "give --cull=off");
  if (areAverages) {
    if (everything)
      AveragedSearch::refuse();
    averages.emplace(number, AveragedSearch::Tables{table(&T::direct), table(&T::incident),
                                                    table(&T::wavelength), table(&T::varied_direct),
                                                    table(&T::varied_incident),
                                                    table(&T::varied_wavelength)});
    sampleAverages();
    return;
  }
  if (everything)
    return;
  const std::span direct(table(&T::direct), std::size_t(9 * bases));
  if (number.grating > 0 || direction) {
    points.emplace(number, beam, direct);
    return;
  }
  everything = !readEllipsoids(number, direct) || !readViews();
  if (everything)
    return;
  cone = coneOf();
  splitWideGroups();
  found.resize(std::size_t(panels * beams * groups()));
  team.forEach(beams * groups(),
               [&](std::int64_t i, int) { findCandidates(i / groups(), i % groups()); });
  std::size_t candidates = 0;
  for (const Group &group : found)
    candidates += group.candidates.size();
  everything = hopeless || candidates > mostCandidates;
}

/// Sorts by rows in `rows`.
template <typename T>
static void sortByRow(std::vector<T> &items, std::int32_t T::*row, Range rows) {
  std::vector<T> sorted;
  sorted.reserve(items.size());
  const auto rowOf = [&](std::size_t i) { return items[i].*row - rows.first; };
  for (const std::uint32_t i : orderByRow(items.size(), rows.last - rows.first + 1, rowOf))
    sorted.push_back(items[i]);
  items.swap(sorted);
}

void Reach::readSpots(const double *place, const double *extent) {
  if (bases >= std::int64_t(1) << 31)
    throw std::runtime_error("there are too many spots to list those of each pixel");
  PixelBox pixels{fast, slow};
  std::int64_t panelsOfPixels = panels;
  if (listed) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    pixels = {{most, -1}, {most, -1}};
    for (std::int64_t i = 0; i != slowPixels * fastPixels; ++i) {
      extend(pixels, listed + 3 * i);
      panelsOfPixels = std::max(panelsOfPixels, std::int64_t(listed[3 * i + 2]) + 1);
    }
  }
  litSpots.resize(std::size_t(panelsOfPixels));
  for (std::int64_t i = 0; i != bases; ++i, place += 3, extent += 3) {
    // A pixel is an area: it is lit where the spot reaches its edge.
    const auto row = [&](double x) {
      return std::int32_t(
          std::clamp(std::floor(x), double(pixels.slow.first - 1), double(pixels.slow.last + 1)));
    };
    const LitSpot spot{.number = std::int32_t(i),
                       .slowFirst = row(place[1] - extent[1]),
                       .slowLast = row(place[1] + extent[1]),
                       .fast = place[0],
                       .slow = place[1],
                       .fastExtent = extent[0],
                       .slowExtent = extent[1],
                       .correlation = std::clamp(extent[2], -1.0, 1.0)};
    const auto isNear = [](double middle, double reach, const Range &range) {
      return middle + reach >= double(range.first) && middle - reach <= double(range.last + 1);
    };
    // False for what is not a number, too.
    const bool isLit = place[2] >= 0 && place[2] < double(panelsOfPixels) && extent[0] >= 0 &&
                       extent[1] >= 0 && std::abs(extent[2]) <= 1 &&
                       isNear(place[0], extent[0], pixels.fast) &&
                       isNear(place[1], extent[1], pixels.slow);
    if (!isLit)
      continue;
    litSpots[std::size_t(place[2])].push_back(spot);
    tallestSpot = std::max(tallestSpot, std::int64_t(spot.slowLast - spot.slowFirst + 1));
  }
  for (std::vector<LitSpot> &ofPanel : litSpots)
    sortByRow(ofPanel, &LitSpot::slowFirst, {pixels.slow.first - 1, pixels.slow.last + 1});
  if (listed)
    for (const std::vector<LitSpot> &ofPanel : litSpots)
      spotGrids.emplace_back(ofPanel, pixels);
}

void Reach::extend(PixelBox &box, const double *pixel) {
  const auto take = [](Range &range, double place) {
    range = {std::min(range.first, std::int64_t(place)), std::max(range.last, std::int64_t(place))};
  };
  take(box.fast, pixel[0]);
  take(box.slow, pixel[1]);
}

/// False where they have no bounds.
bool Reach::readEllipsoids(const nb_reach_numbers &number, std::span<const double> direct) {
  if (!factorize(number.form, reduce))
    return false;
  // The inverse of L, column by column.
  const Matrix unreduce =
      inverse({reduce[0], reduce[1], reduce[2]}, {0, reduce[4], reduce[5]}, {0, 0, reduce[8]});
  double longest = 0;
  bool finite = true;
  for (std::int64_t i = 0; i != bases; ++i) {
    const double *d = direct.data() + 9 * i;
    const Matrix a = inverse(vectorAt(d), vectorAt(d + 3), vectorAt(d + 6));
    Matrix b{{a * unreduce.column[0], a * unreduce.column[1], a * unreduce.column[2]}};
    for (Vector &v : b.column)
      v = (1 + rounding) * v;
    finite &= isFinite(a) && isFinite(b);
    longest = std::max(longest, largestStretch(b));
    reciprocal.push_back(a);
    ellipsoid.push_back(b);
  }
  halfAxis = std::sqrt(longest);
  // The reflections overlap where the ellipsoid is as large as the cell of the reciprocal lattice:
  // bounds are good for nothing then, and long to find.
  return finite && std::all_of(beam.begin(), beam.end(),
                               [&](const IncidentBeam &b) { return halfAxis <= b.radius / 4; });
}

/// The panels as they are seen from the crystal. False where one is seen from its edge.
bool Reach::readViews() {
  const auto [nearest, farthest] = std::minmax_element(depths.begin(), depths.end());
  const double ends[] = {*nearest, *farthest};
  const double margin = 1 / (2 * double(oversample)) - rounding;
  bool finite = pixelSize > 0;
  for (int end = 0; end != 2; ++end)
    for (const FlatPanel &panel : flat) {
      const Vector f = panel.fast, s = panel.slow, o = panel.origin + ends[end] * panel.normal;
      const double det = dot(f, cross(s, o));
      loops::Panel view{};
      copy((1 / det) * cross(s, o), view.fast);
      copy((1 / det) * cross(o, f), view.slow);
      copy((1 / det) * cross(f, s), view.forward);
      view.perPixel = 1 / pixelSize;
      view.margin = margin;
      finite &= std::isfinite(1 / det) && std::isfinite(view.perPixel);
      seen[std::size_t(end)].push_back(view);
    }
  const CurvedPanel::Part part = curvedPart();
  for (const CurvedPanel &panel : curved) {
    if (!(pixelSize > 0) || !panel.holds(part))
      return false;
    for (int end = 0; end != 2; ++end)
      seen[std::size_t(end)].push_back(panel.view(ends[end], pixelSize, margin));
  }
  return finite;
}

CurvedPanel::Part Reach::curvedPart() const {
  const auto [nearest, farthest] = std::minmax_element(depths.begin(), depths.end());
  return {double(fast.first) * pixelSize,
          double(fast.last + 1) * pixelSize,
          double(slow.first) * pixelSize,
          double(slow.last + 1) * pixelSize,
          *nearest,
          *farthest};
}

/// All directions in which the detector lies.
Reach::Cone Reach::coneOf() const {
  std::vector<Vector> corners;
  double between = 0; // a cone has what is between its directions, curved panels a part more
  for (const CurvedPanel &panel : curved)
    between = std::max(between, panel.addDirections(curvedPart(), corners));
  for (const std::vector<loops::Panel> &depth : seen)
    for (const loops::Panel &v : depth) {
      if (v.curved)
        continue;
      // The inverse of the view: its columns are f, s and o.
      const Matrix back = inverse(vectorOf(v.fast), vectorOf(v.slow), vectorOf(v.forward));
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
  cone.angle = std::acos(least) + between + 1e-6;
  return cone;
}

/// Where the candidates of a group are looked for: all directions where there is no cone.
static loops::Balls ballsOf(const IncidentBeam &beam, const Matrix &basis, double halfAxis,
                            double turn, Vector axis, double angle) {
  loops::Balls balls{
      {}, {}, beam.radius, halfAxis, turn, {}, angle < std::numbers::pi ? std::cos(angle) : -2};
  copy(beam.k, balls.k);
  for (int c = 0; c != 3; ++c) {
    balls.basis[3 * c] = basis.column[c].x;
    balls.basis[3 * c + 1] = basis.column[c].y;
    balls.basis[3 * c + 2] = basis.column[c].z;
  }
  copy(axis, balls.axis);
  return balls;
}

Reach::Spread Reach::spreadOf(std::int64_t first, std::int64_t last) const {
  Spread spread;
  Matrix &center = spread.center;
  for (std::int64_t i = first; i != last; ++i)
    for (int c = 0; c != 3; ++c)
      center.column[c] =
          center.column[c] + (1 / double(last - first)) * reciprocal[std::size_t(i)].column[c];
  const Matrix direct = inverse(center.column[0], center.column[1], center.column[2]);
  if (!isFinite(direct))
    return {center, {}, INFINITY, INFINITY};
  // `direct` has as columns what are the rows of the inverse, of the transposed matrix.
  spread.axes = direct.column;
  for (std::int64_t i = first; i != last; ++i) {
    const Matrix &own = reciprocal[std::size_t(i)];
    const Matrix ownDirect = inverse(own.column[0], own.column[1], own.column[2]);
    // (A_i - A_c) D_c and A_c D_i, where D has rows: column j is the sum over c of column c times
    // component j of row c.
    Matrix away, toCenter;
    const auto add = [](Matrix &to, Vector column, Vector row) {
      to.column[0] = to.column[0] + row.x * column;
      to.column[1] = to.column[1] + row.y * column;
      to.column[2] = to.column[2] + row.z * column;
    };
    for (int c = 0; c != 3; ++c) {
      add(away, own.column[c] - center.column[c], spread.axes[c]);
      add(toCenter, center.column[c], ownDirect.column[c]);
    }
    spread.turn = std::max(spread.turn, largestStretch(away));
    spread.stretch = std::max(spread.stretch, largestStretch(toCenter));
  }
  spread.turn = std::sqrt(spread.turn) * (1 + rounding);
  spread.stretch = std::sqrt(spread.stretch) * (1 + rounding);
  return spread;
}

/// A reflection that has light in the direction d has |A_i n| <= |d / lambda - k| + halfAxis, and
/// the mean basis has it `stretch` times as far from the origin at most.
double Reach::widestOf(const IncidentBeam &b, const Spread &spread) const {
  const double fromBeam =
      cone.angle > std::numbers::pi
          ? std::numbers::pi
          : cone.angle + std::acos(std::clamp(dot(b.k, cone.axis) / norm(b.k), -1.0, 1.0));
  const double longestQ =
      2 * b.radius * std::sin(std::min(fromBeam, std::numbers::pi) / 2) * (1 + rounding);
  return halfAxis + spread.turn * spread.stretch * (longestQ + halfAxis);
}

/// Bases that are far apart are better looked at one by one. Per area of the sphere and volume of
/// the unit cell there are as many rows as the least distance of reflections, and as many
/// candidates as the shell is thick; what each costs, in ns, was measured.
void Reach::splitWideGroups() {
  constexpr double ofRow = 2, ofCandidate = 20, ofTest = 0.35;
  constexpr std::int64_t mostGroups = std::int64_t(1) << 20;
  if (groupSize == 1 || panels * beams * bases > mostGroups)
    return;
  const Spread spread = spreadOf(0, std::min(groupSize, bases));
  double row = INFINITY;
  for (Vector column : reciprocal.front().column)
    row = std::min(row, norm(column));
  const double size = double(std::min(groupSize, bases));
  const double together =
      ofRow * row + 2 * widestOf(beam.front(), spread) * (ofCandidate + ofTest * size);
  const double alone = size * (ofRow * row + 2 * halfAxis * ofCandidate);
  if (!(together <= alone))
    groupSize = 1;
}

void Reach::findCandidates(std::int64_t beamNumber, std::int64_t groupNumber) {
  if (hopeless)
    return;
  const IncidentBeam &b = beam[std::size_t(beamNumber)];
  const std::int64_t first = groupNumber * groupSize, last = std::min(first + groupSize, bases);
  // The basis in the middle, and how far the others turn points away from where it has them.
  const auto [center, axes, turn, stretch] = spreadOf(first, last);
  const double widest = widestOf(b, {center, axes, turn, stretch});
  if (!std::isfinite(widest))
    return void(hopeless = true);
  // q of all directions in the cone, widened by the window: bounds of h, k and l.
  const double angle =
      std::min(std::numbers::pi, cone.angle + std::asin(std::min(1.0, widest / b.radius)));
  std::array<Range, 3> bounds;
  for (int c = 0; c != 3; ++c) {
    const double length = norm(axes[c]);
    const double toAxis = cone.angle > std::numbers::pi
                              ? 0
                              : std::acos(std::clamp(dot(axes[c], cone.axis) / length, -1.0, 1.0));
    const double most = cone.angle > std::numbers::pi ? 1 : std::cos(std::max(0.0, toAxis - angle));
    const double least =
        cone.angle > std::numbers::pi ? -1 : std::cos(std::min(std::numbers::pi, toAxis + angle));
    const double at = dot(axes[c], b.k), room = length * widest + 1e-6;
    bounds[c] = {std::int64_t(std::ceil(length * b.radius * least - at - room)),
                 std::int64_t(std::floor(length * b.radius * most - at + room))};
    if (std::max(std::abs(bounds[c].first), std::abs(bounds[c].last)) > (1 << 24))
      return void(hopeless = true);
  }
  // Lines along the axis with the most reflections.
  int along = 0;
  for (int c = 1; c != 3; ++c)
    if (bounds[c].last - bounds[c].first > bounds[along].last - bounds[along].first)
      along = c;
  const int i0 = (along + 1) % 3, i1 = (along + 2) % 3;
  const Vector step = center.column[along], next = center.column[i1];
  loops::Rows rows{};
  copy(step, rows.step);
  copy(next, rows.next);
  rows.outer = b.radius + widest;
  rows.inner = b.radius - widest - widest * widest / b.radius;
  rows.least = double(bounds[along].first);
  rows.most = double(bounds[along].last);
  const std::int64_t count = bounds[i1].last - bounds[i1].first + 1;
  if (count <= 0)
    return;
  std::array<std::vector<double>, 4> ranges;
  for (auto &range : ranges)
    range.resize(std::size_t(count));
  std::vector<unsigned char> some(wholeVectors(std::size_t(count)));
  Search search{ballsOf(b, center, halfAxis, turn, cone.axis, angle),
                std::size_t(beamNumber * groups() + groupNumber)};
  // Some at a time, in memory that stays in the cache.
  constexpr std::size_t atOnce = 1024;
  double all = 0;
  for (std::int64_t plane = bounds[i0].first; plane <= bounds[i0].last; ++plane) {
    copy(b.k + double(plane) * center.column[i0] + double(bounds[i1].first) * next, rows.first);
    loops::findRanges(rows, count, ranges[0].data(), ranges[1].data(), ranges[2].data(),
                      ranges[3].data(), some.data());
    double most = 0;
    forEachFlag(some.data(), std::size_t(count), [&](std::size_t i) {
      for (std::size_t part : {0, 2})
        most += std::max(ranges[part + 1][i] - ranges[part][i] + 1, 0.0);
    });
    all += most;
    if (!(all <= double(mostCandidates)))
      return void(hopeless = true);
    if (search.size >= atOnce)
      addSpots(search);
    for (auto &index : search.index)
      if (index.size() < search.size + std::size_t(most))
        index.resize(search.size + std::size_t(most) + atOnce);
    std::int32_t *const inPlane = search.index[std::size_t(i0)].data();
    std::int32_t *const ofRow = search.index[std::size_t(i1)].data();
    std::int32_t *const inRow = search.index[std::size_t(along)].data();
    forEachFlag(some.data(), std::size_t(count), [&](std::size_t i) {
      for (std::size_t part : {0, 2})
        for (double at = ranges[part][i]; at <= ranges[part + 1][i]; ++at) {
          inPlane[search.size] = std::int32_t(plane);
          ofRow[search.size] = std::int32_t(bounds[i1].first) + std::int32_t(i);
          inRow[search.size++] = std::int32_t(at);
        }
    });
  }
  addSpots(search);
  for (std::int64_t p = 0; p != panels; ++p) {
    auto &candidates = found[std::size_t(p * beams * groups()) + search.group].candidates;
    sortByRow(candidates, &Candidate::firstRow, slow);
  }
}

/// Candidates are those that some panel can see.
void Reach::addSpots(Search &search) {
  const std::size_t size = std::exchange(search.size, 0);
  if (size == 0)
    return;
  auto &[x, y, z, radius] = search.balls;
  for (auto &numbers : search.balls)
    numbers.resize(std::max(numbers.size(), size));
  search.kept.resize(std::max(search.kept.size(), wholeVectors(size)));
  for (auto &spot : search.spots)
    spot.resize(std::max(spot.size(), size));
  unsigned char *const kept = search.kept.data();
  loops::findBalls(search.lattice, search.index[0].data(), search.index[1].data(),
                   search.index[2].data(), std::int64_t(size), x.data(), y.data(), z.data(),
                   radius.data(), kept);
  std::memset(kept + size, 0, wholeVectors(size) - size);
  std::size_t count = 0;
  forEachFlag(kept, size, [&](std::size_t i) {
    for (auto &index : search.index)
      index[count] = index[i];
    for (auto &numbers : search.balls)
      numbers[count] = numbers[i];
    ++count;
  });
  const std::size_t panelStride = std::size_t(beams * groups());
  auto &spots = search.spots;
  const auto spotsAt = [&](std::size_t end) {
    return loops::Pixels{spots[4 * end].data(), spots[4 * end + 1].data(),
                         spots[4 * end + 2].data(), spots[4 * end + 3].data()};
  };
  const loops::Window window{std::int32_t(fast.first), std::int32_t(fast.last),
                             std::int32_t(slow.first), std::int32_t(slow.last)};
  for (std::int64_t p = 0; p != panels; ++p) {
    for (std::size_t end = 0; end != (hasDepth ? 2 : 1); ++end)
      loops::spotsOfBalls(panel(p, int(end)), search.lattice.radius, x.data(), y.data(), z.data(),
                          radius.data(), std::int64_t(count), spotsAt(end));
    if (hasDepth)
      loops::coverBoth(spotsAt(0), spotsAt(1), std::int64_t(count));
    loops::clipSpots(spotsAt(0), window, std::int64_t(count), kept);
    std::memset(kept + count, 0, wholeVectors(count) - count);
    Group &into = found[std::size_t(p) * panelStride + search.group];
    forEachFlag(kept, count, [&](std::size_t i) {
      const std::int32_t first = spots[2][i], last = spots[3][i];
      into.candidates.push_back(
          {search.index[0][i], search.index[1][i], search.index[2][i], first, last});
      into.mostRows = std::max(into.mostRows, last - first + 1);
    });
  }
}

} // namespace nanobragg
