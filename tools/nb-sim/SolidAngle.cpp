#include "tools/nb-sim/SolidAngle.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace nanobragg {
namespace {

struct PanelGeometry {
  Vec3 origin, fast, slow, normal;
  double closeDistance; ///< of the panel's plane
};

PanelGeometry geometryOf(const DetectorReport &placed) {
  return {placed.pix0, placed.fastAxis, placed.slowAxis, placed.normal,
          std::abs(placed.closeDistance)};
}

/// Where each panel stands after all rotations.
std::vector<PanelGeometry> placePanels(const Experiment &experiment, const DetectorReport &report) {
  const Detector &detector = experiment.detector;
  if (detector.panels.empty())
    return {geometryOf(report)};
  std::vector<PanelGeometry> placed;
  for (const Panel &panel : detector.panels)
    placed.push_back(geometryOf(placePanel(detector, experiment.beam.direction, report, panel)));
  return placed;
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

} // namespace

double solidAngle(const Experiment &experiment, const Report &report, Rule rule) {
  const Detector &detector = experiment.detector;
  const bool c = rule == Rule::C;
  const bool point = c && experiment.variant.solidAngle == SolidAngle::Point;
  const bool curved = experiment.variant.curvature != Curvature::Flat;
  const double pixel = detector.pixelSize;
  const Samples samples = c ? samplesOfKernel(experiment, report) : centreOf(pixel);
  const std::vector<PanelGeometry> panels = placePanels(experiment, report.detector);

  const auto ofPixel = [&](const PanelGeometry &panel, std::int64_t slow, std::int64_t fast) {
    double total = 0;
    for (const Samples::Point &at : samples.points) {
      const Vec3 p = sum(sum(panel.origin, scaled(panel.normal, at.depth)),
                         sum(scaled(panel.fast, double(fast) * pixel + at.fast),
                             scaled(panel.slow, double(slow) * pixel + at.slow)));
      // A curved detector has all its pixels as far from the sample as the beam centre.
      const double r2 = curved ? report.detector.distance * report.detector.distance : dot(p, p);
      total += point ? solidAngleOfPoint(r2) : solidAngleOfPixel(r2, panel.closeDistance, pixel);
    }
    return total * samples.weight;
  };

  const auto rendered = [&](std::size_t panel, std::int64_t slow, std::int64_t fast) {
    const auto row = std::int64_t(panel) * detector.slowPixels + slow;
    return detector.mask.empty() || detector.mask[std::size_t(row * detector.fastPixels + fast)];
  };

  const std::int64_t fastBegin = std::max<std::int64_t>(detector.roiFastMin, 0);
  const std::int64_t fastEnd = std::min(detector.roiFastMax + 1, detector.fastPixels);
  const std::int64_t slowBegin = std::max<std::int64_t>(detector.roiSlowMin, 0);
  const std::int64_t slowEnd =
      std::max(slowBegin, std::min(detector.roiSlowMax + 1, detector.slowPixels));
  using Rows = tbb::blocked_range<std::int64_t>;
  double total = 0;
  for (std::size_t i = 0; i != panels.size(); ++i)
    // The fixed partition keeps the printed digits the same for any number of threads.
    total += tbb::parallel_deterministic_reduce(
        Rows(slowBegin, slowEnd, 64), 0.0,
        [&](const Rows &rows, double partial) {
          for (std::int64_t slow = rows.begin(); slow != rows.end(); ++slow)
            for (std::int64_t fast = fastBegin; fast < fastEnd; ++fast)
              if (rendered(i, slow, fast))
                partial += ofPixel(panels[i], slow, fast);
          return partial;
        },
        std::plus<>());
  return c ? total / report.solidAngleDivisor : total;
}

} // namespace nanobragg
