#include "runtime/processor/Reach.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nanobragg {
namespace {

/// A unit vector along v, or along any axis that is across `across` where v is nothing.
Vector along(Vector v, Vector across) {
  const double length = norm(v);
  if (length > 0)
    return (1 / length) * v;
  const Vector axis = std::fabs(across.x) < 0.6 ? Vector{1, 0, 0} : Vector{0, 1, 0};
  const Vector other = cross(across, axis);
  return (1 / norm(other)) * other;
}

/// The box around some directions, with an edge along the way from the first to `second`.
struct DirectionBox {
  Vector middle;
  std::array<Vector, 3> extent;
  double half = 0; ///< half its diagonal

  DirectionBox(std::span<const Vector> points, std::size_t second) {
    Vector sum;
    for (Vector p : points)
      sum = sum + p;
    const Vector forward = along(sum, {0, 0, 1});
    const Vector step = points[second] - points[0];
    const Vector first = along(step - dot(step, forward) * forward, forward);
    const Vector axes[] = {first, cross(forward, first), forward};
    double squares = 0;
    for (std::size_t i = 0; i != 3; ++i) {
      double low = INFINITY, high = -INFINITY;
      for (Vector p : points) {
        low = std::min(low, dot(p, axes[i]));
        high = std::max(high, dot(p, axes[i]));
      }
      middle = middle + ((low + high) / 2) * axes[i];
      extent[i] = ((high - low) / 2) * axes[i];
      squares += (high - low) * (high - low) / 4;
    }
    half = std::sqrt(squares);
  }
};

/// Between corners a panel is bent by less than the square of the angle.
void add(PlaceMemory &to, const DirectionBox &box, std::int64_t block) {
  const loops::Places &p = to.arrays;
  const auto put = [&](double *const(&axes)[3], Vector v) {
    axes[0][to.count] = v.x;
    axes[1][to.count] = v.y;
    axes[2][to.count] = v.z;
  };
  put(p.d, box.middle);
  for (std::size_t i = 0; i != 3; ++i)
    put(p.extent[i], box.extent[i]);
  p.bend[to.count] = box.half * box.half;
  p.size[to.count] = box.half + p.bend[to.count];
  p.block[to.count] = std::int32_t(block);
  if (!std::isfinite(box.half))
    AveragedSearch::refuse();
  ++to.count;
}

/// Vectors of places are whole: the last one stands behind them, too.
void fillUp(PlaceMemory &places) {
  loops::Places &p = places.arrays;
  const auto fill = [&](double *numbers) {
    for (std::int64_t i = places.count; i % loops::placesAtOnce != 0; ++i)
      numbers[i] = numbers[i - 1];
  };
  for (double *axis : p.d)
    fill(axis);
  for (auto &extent : p.extent)
    for (double *axis : extent)
      fill(axis);
  fill(p.bend);
  fill(p.size);
}

} // namespace

void Reach::placesOf(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const {
  if (direction)
    placesOfTable(panel, rows, blocks, into);
  else if (curved.empty())
    placesOfFlat(panel, rows, blocks, into);
  else
    placesOfCurved(panel, rows, blocks, into);
}

void Reach::placesOfFlat(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const {
  const FlatPanel &p = flat[std::size_t(panel)];
  const auto [nearest, farthest] = std::minmax_element(depths.begin(), depths.end());
  const double width = pixelSize * double(blockColumns);
  const double height = pixelSize * double(rows.last - rows.first + 1);
  const double f = pixelSize * double(fast.first + blocks.first * blockColumns) + width / 2;
  const double s = pixelSize * double(rows.first) + height / 2;
  const Vector halves[] = {(width / 2) * p.fast, (height / 2) * p.slow,
                           ((*farthest - *nearest) / 2) * p.normal};
  loops::Boxes boxes{};
  copy(p.origin + f * p.fast + s * p.slow + ((*nearest + *farthest) / 2) * p.normal, boxes.first);
  copy(width * p.fast, boxes.step);
  for (std::size_t i = 0; i != 3; ++i)
    copy(halves[i], boxes.half[i]);
  boxes.halfDiagonal =
      std::max(norm(halves[0] + halves[1]), norm(halves[0] - halves[1])) + norm(halves[2]);
  boxes.extents = hasDepth ? 3 : 2;
  const std::int64_t count = blocks.last - blocks.first + 1;
  into.begin(count, boxes.extents);
  into.count = count;
  loops::findPlaces(boxes, count, into.arrays);
  for (std::int64_t i = 0; i != count; ++i)
    into.arrays.block[i] = std::int32_t(i);
}

void Reach::placesOfCurved(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const {
  const auto [nearest, farthest] = std::minmax_element(depths.begin(), depths.end());
  const CurvedPanel &of = curved[std::size_t(panel)];
  // The edge between two blocks belongs to both.
  std::vector<Vector> corners;
  const auto addEdge = [&](std::int64_t block) {
    const double column = double(fast.first + block * blockColumns) * pixelSize;
    for (std::int64_t row : {rows.first, rows.last + 1}) {
      corners.push_back(of.directionOf(column, double(row) * pixelSize, *nearest));
      if (hasDepth)
        corners.push_back(of.directionOf(column, double(row) * pixelSize, *farthest));
    }
  };
  addEdge(blocks.first);
  const std::size_t ofEdge = corners.size();
  into.begin(blocks.last - blocks.first + 1, 3);
  for (std::int64_t block = blocks.first; block <= blocks.last; ++block) {
    addEdge(block + 1);
    add(into, DirectionBox(corners, ofEdge), block - blocks.first);
    corners.erase(corners.begin(), corners.begin() + std::ptrdiff_t(ofEdge));
  }
  fillUp(into);
}

/// Pixels of a list may stand anywhere: each is a place of its own where those of a block are far
/// apart and no neighbours.
void Reach::placesOfTable(std::int64_t panel, Range rows, Range blocks, PlaceMemory &into) const {
  constexpr double farApart = 0.25; // in indices
  into.begin((blocks.last - blocks.first + 1) * pixelsOfBlock(), 3);
  std::vector<Vector> points;
  for (std::int64_t block = blocks.first; block <= blocks.last; ++block) {
    const std::int64_t column = fast.first + block * blockColumns;
    const std::int64_t columns = std::min(blockColumns, fast.last - column + 1);
    points.clear();
    for (std::int64_t row = rows.first; row <= rows.last; ++row) {
      const std::int64_t first = (panel * slowPixels + row) * fastPixels + column;
      for (std::int64_t i = first * perPixel; i != (first + columns) * perPixel; ++i)
        points.push_back(vectorAt(direction + 3 * i));
    }
    const auto ofPixel = std::size_t(perPixel);
    const DirectionBox all(points, points.size() > ofPixel ? ofPixel : points.size() > 1);
    const auto ofNeighbours = [&] {
      const DirectionBox one(std::span(points).first(ofPixel), ofPixel > 1);
      return all.half <= double(columns + blockRows) * one.half;
    };
    if (!(all.half * averages->longestAxis > farApart) || ofNeighbours()) {
      add(into, all, block - blocks.first);
      continue;
    }
    for (std::size_t i = 0; i != points.size(); i += ofPixel)
      add(into, DirectionBox(std::span(points).subspan(i, ofPixel), ofPixel > 1),
          block - blocks.first);
  }
  fillUp(into);
}

/// Looks at some rows of blocks for how much there is to be found.
void Reach::sampleAverages() {
  constexpr std::int64_t some = 4, mostInWindow = 4096;
  const auto forSome = [&](std::int64_t count, auto &&visit) {
    const std::int64_t taken = std::min(some, count);
    for (std::int64_t i = 0; i != taken; ++i)
      visit((2 * i + 1) * count / (2 * taken));
  };
  const std::int64_t last = (fast.last - fast.first) / blockColumns;
  if (fast.last < fast.first || slow.last < slow.first)
    return;
  PlaceMemory places;
  FoundReflections found;
  double windows = 0, blocks = 0;
  const auto forSomeRows = [&](auto &&visit) {
    forSome(panels, [&](std::int64_t panel) {
      forSome((slow.last - slow.first) / blockRows + 1, [&](std::int64_t row) {
        const std::int64_t first = slow.first + row * blockRows;
        placesOf(panel, {first, std::min(first + blockRows - 1, slow.last)}, {0, last}, places);
        forSome(beams, visit);
      });
    });
  };
  forSomeRows([&](std::int64_t beam) {
    windows += averages->windows(beam, places);
    blocks += double(last + 1);
  });
  if (!(windows <= double(mostInWindow) * blocks))
    AveragedSearch::refuse();
  double listed = 0;
  forSomeRows([&](std::int64_t beam) {
    averages->find(beam, places, found);
    listed += double(std::exchange(found.size, 0));
  });
  pairsOfBlock = double(beams) * listed / blocks;
}

} // namespace nanobragg
