#include "tools/nb-sim/SolidAngle.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/VectorAlgebra.h"

#include "lib/Parallel/ThreadTeam.h"
#include "lib/Parallel/Vectorized.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace nanobragg {
namespace {

struct PanelGeometry {
  Vec3 origin, fast, slow, normal;
  double closeDistance; ///< distance of a pixel's plane
  double squaredRadius; ///< a curved panel's, whose pixels are all as far from the sample; else 0
};

PanelGeometry geometryOf(const DetectorReport &placed, Curvature curvature) {
  const double radius = std::abs(placed.distance), close = std::abs(placed.closeDistance);
  return {placed.pix0,
          placed.fastAxis,
          placed.slowAxis,
          placed.normal,
          curvature == Curvature::Right ? radius : close,
          curvature == Curvature::Flat ? 0 : radius * radius};
}

/// Points of a pixel at which its solid angle is taken; each counts `weight` times.
struct Samples {
  struct Point {
    double fast, slow, depth; ///< m, from the corner of the pixel's front face
  };
  std::vector<Point> points;
  double weight = 1;
};

Samples centreOf(double pixel) { return {{{pixel / 2, pixel / 2, 0}}}; }

/// Where the kernel evaluates it: for each layer and sub-pixel, or for the first of all.
Samples samplesOfKernel(const Experiment &experiment, const Report &report) {
  const Detector &detector = experiment.detector;
  const double edge = detector.pixelSize / double(detector.oversample);
  const double subpixels = double(detector.oversample * detector.oversample);
  if (experiment.variant.omega == Evaluation::Once)
    return {{{edge / 2, edge / 2, 0}}, double(detector.layers) * subpixels};
  Samples samples;
  for (double depth : report.layerDepths)
    for (std::int64_t slow = 0; slow != detector.oversample; ++slow)
      for (std::int64_t fast = 0; fast != detector.oversample; ++fast)
        samples.points.push_back({(double(fast) + 0.5) * edge, (double(slow) + 0.5) * edge, depth});
  return samples;
}

/// The numbers that all rows share.
struct Rows {
  std::int64_t begin, end; ///< pixels along the row
  double pixel;            ///< m
  bool point;              ///< without obliquity
};

/// Summed over the pixels whose mask is not 0; `start` is the sample's place in the row's first
/// pixel. The formulas are solidAngleOfPixel and solidAngleOfPoint.
template <bool masked>
inline __attribute__((always_inline)) double
ofRow(const Rows &rows, const Vec3 &start, const PanelGeometry &at, const std::uint8_t *mask) {
#pragma clang fp reassociate(on) contract(off)
  const double x = start[0], y = start[1], z = start[2], pixel = rows.pixel;
  const double xStep = at.fast[0] * pixel, yStep = at.fast[1] * pixel, zStep = at.fast[2] * pixel;
  const double area = rows.point ? 1 : pixel * pixel * at.closeDistance;
  const double squaredRadius = at.squaredRadius;
  double total = 0;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const double step = double(std::int32_t(i));
    const double px = x + step * xStep, py = y + step * yStep, pz = z + step * zStep;
    const double r2 = squaredRadius > 0 ? squaredRadius : px * px + py * py + pz * pz;
    const double omega = area / (rows.point ? r2 : r2 * std::sqrt(r2));
    total += !masked || mask[i] ? omega : 0;
  }
  return total;
}

NB_VECTORIZED double ofWholeRow(const Rows &rows, const Vec3 &start, const PanelGeometry &at) {
  return ofRow<false>(rows, start, at, nullptr);
}

NB_VECTORIZED double ofMaskedRow(const Rows &rows, const Vec3 &start, const PanelGeometry &at,
                                 const std::uint8_t *mask) {
  return ofRow<true>(rows, start, at, mask);
}

} // namespace

double solidAngle(const Experiment &experiment, const Report &report, Rule rule, int threads) {
  const Detector &detector = experiment.detector;
  const bool c = rule == Rule::C;
  const bool point = c && experiment.variant.solidAngle == SolidAngle::Point;
  const double pixel = detector.pixelSize;
  const Samples samples = c ? samplesOfKernel(experiment, report) : centreOf(pixel);
  std::vector<PanelGeometry> panels;
  for (const DetectorReport &placed :
       placePanels(detector, experiment.beam.direction, report.detector))
    panels.push_back(geometryOf(placed, experiment.variant.curvature));

  const Rows rows = {std::max<std::int64_t>(detector.roiFastMin, 0),
                     std::min(detector.roiFastMax + 1, detector.fastPixels), pixel, point};
  const auto ofRow = [&](std::size_t panel, std::int64_t slow) {
    const PanelGeometry &at = panels[panel];
    const auto row = std::int64_t(panel) * detector.slowPixels + slow;
    const std::uint8_t *mask =
        detector.mask.empty() ? nullptr : &detector.mask[std::size_t(row * detector.fastPixels)];
    double total = 0;
    for (const Samples::Point &sample : samples.points) {
      const Vec3 start = sum(
          sum(at.origin, scaled(at.normal, sample.depth)),
          sum(scaled(at.fast, sample.fast), scaled(at.slow, double(slow) * pixel + sample.slow)));
      total += mask ? ofMaskedRow(rows, start, at, mask) : ofWholeRow(rows, start, at);
    }
    return total * samples.weight;
  };

  const std::int64_t slowBegin = std::max<std::int64_t>(detector.roiSlowMin, 0);
  const std::int64_t slowEnd =
      std::max(slowBegin, std::min(detector.roiSlowMax + 1, detector.slowPixels));
  const std::int64_t height = slowEnd - slowBegin;
  // Each row by itself: the printed digits are the same for any number of threads.
  std::vector<double> ofRows(panels.size() * std::size_t(height));
  constexpr std::int64_t together = 64;
  const auto count = std::int64_t(ofRows.size());
  ThreadTeam(count > together ? threadsOf(threads) : 1)
      .forEach((count + together - 1) / together, [&](std::int64_t part, int) {
        for (std::int64_t i = part * together; i < std::min(count, (part + 1) * together); ++i)
          ofRows[std::size_t(i)] = ofRow(std::size_t(i / height), slowBegin + i % height);
      });
  const double total = std::accumulate(ofRows.begin(), ofRows.end(), 0.0);
  return c ? total / report.solidAngleDivisor : total;
}

} // namespace nanobragg
