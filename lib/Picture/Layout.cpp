#include "lib/Picture/Layout.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nanobragg {
namespace {

constexpr std::uint8_t gap = 24; ///< where there is no panel

} // namespace

Layout::Layout(const CompleteExperiment &complete)
    : frameFast(complete.experiment.detector.fastPixels),
      frameSlow(complete.experiment.detector.slowPixels),
      step(complete.experiment.detector.pixelSize) {
  const Detector &d = complete.experiment.detector;
  const Vec3 &beam = complete.experiment.beam.direction;
  const auto add = [&](const DetectorReport &placed, std::int64_t fast, std::int64_t slow) {
    Panel panel;
    panel.corner = placed.pix0;
    panel.fast = scaled(placed.fastAxis, d.pixelSize);
    panel.slow = scaled(placed.slowAxis, d.pixelSize);
    panel.fastPixels = fast;
    panel.slowPixels = slow;
    panels.push_back(panel);
    const Vec3 across = cross(placed.fastAxis, placed.slowAxis);
    normal = sum(normal, dot(across, placed.pix0) < 0 ? scaled(across, -1) : across);
  };
  if (d.panels.empty())
    add(complete.report.detector, d.fastPixels, d.slowPixels);
  for (const nanobragg::Panel &p : d.panels)
    add(placePanel(d, beam, complete.report.detector, p), p.fastPixels, p.slowPixels);
  normal = unit(normal);
  if (length(normal) == 0) // panels all around: none of their directions is special
    normal = beam;
  const auto within = [&](const Vec3 &x) { return difference(x, scaled(normal, dot(x, normal))); };
  u = unit(within(panels.front().fast));
  if (length(u) == 0)
    u = unit(within(panels.front().slow));
  v = cross(normal, u);
  if (dot(v, panels.front().slow) < 0)
    v = scaled(v, -1);
  place();
  assignOwners();
}

void Layout::place() {
  double lowX = INFINITY, highX = -INFINITY, lowY = INFINITY, highY = -INFINITY;
  for (Panel &p : panels) {
    for (int k = 0; k < 4; ++k) {
      const Vec3 at = sum(p.corner, sum(scaled(p.fast, k & 1 ? double(p.fastPixels) : 0),
                                        scaled(p.slow, k & 2 ? double(p.slowPixels) : 0)));
      lowX = std::min(lowX, dot(at, u));
      highX = std::max(highX, dot(at, u));
      lowY = std::min(lowY, dot(at, v));
      highY = std::max(highY, dot(at, v));
    }
    const Vec3 middle = sum(p.corner, sum(scaled(p.fast, double(p.fastPixels) / 2),
                                          scaled(p.slow, double(p.slowPixels) / 2)));
    p.depth = dot(middle, normal);
    meanDepth += p.depth / double(panels.size());
  }
  originX = lowX;
  originY = lowY;
  const double widest = std::max(highX - lowX, highY - lowY) / step;
  step *= std::max(1.0, std::ceil(widest / double(largest)));
  // A frame of whole pixels stays one in spite of rounding.
  columns = std::max<std::int64_t>(1, std::int64_t(std::ceil((highX - lowX) / step - 1e-6)));
  rows = std::max<std::int64_t>(1, std::int64_t(std::ceil((highY - lowY) / step - 1e-6)));
  for (Panel &p : panels) {
    p.at = {(dot(p.corner, u) - originX) / step, (dot(p.corner, v) - originY) / step};
    p.right = {dot(p.fast, u) / step, dot(p.fast, v) / step};
    p.down = {dot(p.slow, u) / step, dot(p.slow, v) / step};
  }
}

bool Layout::pixelOf(const Panel &p, double x, double y, double &fast, double &slow) {
  const double determinant = p.right[0] * p.down[1] - p.right[1] * p.down[0];
  if (std::fabs(determinant) < 1e-9)
    return false; // seen from its edge
  const double dx = x - p.at[0], dy = y - p.at[1];
  fast = (dx * p.down[1] - dy * p.down[0]) / determinant;
  slow = (dy * p.right[0] - dx * p.right[1]) / determinant;
  return fast >= 0 && slow >= 0 && fast < double(p.fastPixels) && slow < double(p.slowPixels);
}

/// Far panels first: nearer ones hide them.
void Layout::assignOwners() {
  shown.assign(std::size_t(columns * rows), -1);
  std::vector<std::int32_t> order(panels.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    return std::pair(-panels[std::size_t(a)].depth, a) <
           std::pair(-panels[std::size_t(b)].depth, b);
  });
  for (const std::int32_t i : order) {
    const Panel &p = panels[std::size_t(i)];
    const auto range = [&](int axis, std::int64_t end) {
      const double a = double(p.fastPixels) * p.right[axis],
                   b = double(p.slowPixels) * p.down[axis];
      const double low = p.at[axis] + std::min(a, 0.0) + std::min(b, 0.0);
      const double high = p.at[axis] + std::max(a, 0.0) + std::max(b, 0.0);
      return std::pair{std::max<std::int64_t>(0, std::int64_t(low) - 1),
                       std::min(end, std::int64_t(high) + 2)};
    };
    const auto [left, rightEnd] = range(0, columns);
    const auto [top, bottom] = range(1, rows);
    double fast, slow;
    for (std::int64_t y = top; y < bottom; ++y)
      for (std::int64_t x = left; x < rightEnd; ++x)
        if (pixelOf(p, double(x) + 0.5, double(y) + 0.5, fast, slow))
          shown[std::size_t(y * columns + x)] = i;
  }
}

Vec3 Layout::positionOf(std::int64_t x, std::int64_t y, std::int32_t owner) const {
  const double px = double(x) + 0.5, py = double(y) + 0.5;
  if (owner < 0)
    return sum(scaled(normal, meanDepth),
               sum(scaled(u, originX + px * step), scaled(v, originY + py * step)));
  const Panel &p = panels[std::size_t(owner)];
  double fast, slow;
  pixelOf(p, px, py, fast, slow);
  return sum(p.corner, sum(scaled(p.fast, fast), scaled(p.slow, slow)));
}

Picture Layout::draw(std::span<const std::uint8_t> image) const {
  Picture picture{columns, rows, std::vector<std::uint8_t>(shown.size(), gap)};
  double fast, slow;
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < columns; ++x) {
      const std::int32_t i = shown[std::size_t(y * columns + x)];
      if (i >= 0 && pixelOf(panels[std::size_t(i)], double(x) + 0.5, double(y) + 0.5, fast, slow))
        picture.tones[std::size_t(y * columns + x)] = image[std::size_t(
            (i * frameSlow + std::int64_t(slow)) * frameFast + std::int64_t(fast))];
    }
  return picture;
}

} // namespace nanobragg
