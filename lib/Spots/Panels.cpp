#include "lib/Spots/Panels.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

bool isBetween(double x, double least, double end) { return x >= least && x < end; }

/// `normal` is fast x slow.
std::optional<std::array<double, 2>> meetPlaneOf(const io::DialsPanel &p, const Vec3 &normal,
                                                 const Vec3 &ray) {
  const double cosine = dot(ray, normal);
  if (cosine == 0)
    return std::nullopt;
  const double along = dot(p.origin, normal) / cosine;
  if (!(along > 0))
    return std::nullopt;
  const Vec3 met = difference(scaled(ray, along), p.origin);
  // Axes of a file may be a little off a right angle.
  const double skew = dot(p.fast, p.slow), determinant = 1 - skew * skew;
  const double f = dot(met, p.fast), s = dot(met, p.slow);
  return std::array{(f - skew * s) / determinant, (s - skew * f) / determinant};
}

} // namespace

std::optional<std::array<double, 2>> meetPlane(const io::DialsPanel &p, const Vec3 &ray) {
  return meetPlaneOf(p, cross(p.fast, p.slow), ray);
}

std::array<Vec3, 4> cornersOf(const io::DialsPanel &p, double beyond) {
  std::array<Vec3, 4> corners;
  for (int corner = 0; corner < 4; ++corner) {
    const auto edge = [&](int axis, bool end) {
      return (end ? double(p.pixels[axis]) + beyond : -beyond) * p.pixelSize[axis];
    };
    corners[corner] = unit(sum(
        p.origin, sum(scaled(p.fast, edge(0, corner & 1)), scaled(p.slow, edge(1, corner & 2)))));
  }
  return corners;
}

PanelFinder::PanelFinder(std::span<const io::DialsPanel> panels, double beyond)
    : panels(panels), beyond(beyond) {
  for (const io::DialsPanel &p : panels) {
    const std::array<Vec3, 4> corners = cornersOf(p, beyond);
    const Vec3 axis = unit(sum(sum(corners[0], corners[1]), sum(corners[2], corners[3])));
    double cosine = 1;
    for (const Vec3 &corner : corners)
      cosine = std::min(cosine, dot(axis, corner));
    // A cone is convex up to a right angle.
    cosines.push_back(cosine > 0 ? cosine - 1e-9 : -2);
    for (int i = 0; i < 3; ++i)
      axes[i].push_back(axis[i]);
    normals.push_back(cross(p.fast, p.slow));
  }
}

std::optional<PanelPoint> PanelFinder::meet(const Vec3 &ray,
                                            std::vector<PanelPoint> *beside) const {
  std::optional<PanelPoint> first;
  double nearest = INFINITY;
  const double far = length(ray);
  constexpr std::size_t most = 16; // panels at a time
  for (std::size_t begin = 0; begin < panels.size(); begin += most) {
    const std::size_t count = std::min(most, panels.size() - begin);
    double inside[most];
    for (std::size_t i = 0; i < count; ++i)
      inside[i] = ray[0] * axes[0][begin + i] + ray[1] * axes[1][begin + i] +
                  ray[2] * axes[2][begin + i] - far * cosines[begin + i];
    for (std::size_t i = 0; i < count; ++i)
      if (inside[i] >= 0)
        meetPanel(begin + i, ray, first, nearest, beside);
  }
  return first;
}

/// The panel that a ray meets before those that it met.
void PanelFinder::meetPanel(std::size_t panel, const Vec3 &ray, std::optional<PanelPoint> &first,
                            double &nearest, std::vector<PanelPoint> *beside) const {
  const io::DialsPanel &p = panels[panel];
  const auto mm = meetPlaneOf(p, normals[panel], ray);
  if (!mm)
    return;
  const double fast = (*mm)[0] / p.pixelSize[0], slow = (*mm)[1] / p.pixelSize[1];
  const auto isWithin = [&](double edge) {
    return isBetween(fast, -edge, double(p.pixels[0]) + edge) &&
           isBetween(slow, -edge, double(p.pixels[1]) + edge);
  };
  if (!isWithin(beyond))
    return;
  if (beyond != 0 && !isWithin(0)) {
    beside->push_back({panel, *mm});
    return;
  }
  const double away =
      length(sum(p.origin, sum(scaled(p.fast, (*mm)[0]), scaled(p.slow, (*mm)[1]))));
  if (away >= nearest)
    return;
  nearest = away;
  first = PanelPoint{panel, *mm};
}

std::array<double, 2> toPixel(const io::DialsPanel &p, const std::array<double, 2> &mm) {
  std::array<double, 2> at = mm;
  if (p.parallax && p.mu > 0 && p.thickness > 0) {
    const Vec3 ray = unit(sum(p.origin, sum(scaled(p.fast, mm[0]), scaled(p.slow, mm[1]))));
    const double cosine = std::fabs(dot(ray, cross(p.fast, p.slow)));
    const double through = p.thickness / cosine;
    const double depth = 1 / p.mu - (through + 1 / p.mu) * std::exp(-p.mu * through);
    at[0] += dot(ray, p.fast) * depth;
    at[1] += dot(ray, p.slow) * depth;
  }
  return {at[0] / p.pixelSize[0], at[1] / p.pixelSize[1]};
}

} // namespace nanobragg
