#include "lib/Spots/Panels.h"

#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>

namespace nanobragg {
namespace {

bool isBetween(double x, double least, double end) { return x >= least && x < end; }

} // namespace

std::optional<std::array<double, 2>> meetPlane(const io::DialsPanel &p, const Vec3 &ray) {
  const Vec3 normal = cross(p.fast, p.slow);
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

std::optional<PanelPoint> meet(std::span<const io::DialsPanel> panels, const Vec3 &ray,
                               double beyond, std::vector<PanelPoint> *beside) {
  std::optional<PanelPoint> first;
  double nearest = INFINITY;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const io::DialsPanel &p = panels[i];
    const auto mm = meetPlane(p, ray);
    const auto isWithin = [&](double edge) {
      return isBetween((*mm)[0] / p.pixelSize[0], -edge, double(p.pixels[0]) + edge) &&
             isBetween((*mm)[1] / p.pixelSize[1], -edge, double(p.pixels[1]) + edge);
    };
    if (!mm || !isWithin(beyond))
      continue;
    if (beyond != 0 && !isWithin(0)) {
      beside->push_back({i, *mm});
      continue;
    }
    const double away =
        length(sum(p.origin, sum(scaled(p.fast, (*mm)[0]), scaled(p.slow, (*mm)[1]))));
    if (away >= nearest)
      continue;
    nearest = away;
    first = PanelPoint{i, *mm};
  }
  return first;
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
