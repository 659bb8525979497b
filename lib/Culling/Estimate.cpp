#include "lib/Culling/Estimate.h"

#include "lib/Culling/Bounds.h"
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/CheckedSize.h"
#include "lib/Experiment/PhysicalConstants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace nanobragg {
namespace {

/// The part of their tolerance that averages leave out where no setting is asked for.
constexpr double ofAverages = 1e-3, ofSpots = 1e-2;
/// A block of pixels that is computed for each that may have light.
constexpr double lanes = 8;
/// More of the samples than that are not worth looking for.
constexpr double worth = 0.8;
/// Samples of one beam and one phi step, below which finding its reflections takes longer than
/// computing them all.
constexpr double fewSamples = 3e5;

/// The radius of a spot in N h beyond which a sample counts for nothing; none where the shape has
/// no such radius.
double radiusOf(const Experiment &e, const CulledProgram &program, bool single) {
  const CrystalShapeRow &shape = rowOf(e.variant.shape);
  std::optional<double> bound = bounds::ofProfile(shape.profile, program, single);
  if (!bound)
    return INFINITY;
  // As the pass does it, where the numbers of cells are numbers.
  if (shape.profile == SpotProfile::Gaussian && !shape.hasMatrix && program.isExact() &&
      !program.derives && !single) {
    const auto &n = e.crystal.ncells;
    *bound +=
        bounds::logarithmOfCells(std::pow(n[0] * n[1] * n[2], 1.0 / 64)) - bounds::ofMostCells;
  }
  return std::sqrt(*bound / std::fabs(shape.distanceFactor));
}

/// The share of the samples of a square crystal that is computed, and what it takes to find them:
/// each is looked at, at this part of the cost of one that is computed.
double shareOfGrating(const Experiment &e, const CulledProgram &program) {
  // Images are dark between fringes, too.
  constexpr double look = 0.12, inFringes = 0.4;
  if (program.isExact())
    return 1;
  const auto &n = e.crystal.ncells;
  const double most = bounds::ofGrating(program.setting.tolerance());
  if (n[0] * n[1] * n[2] <= most)
    return 1;
  // For x between 0 and 1/2 on each axis, at equal distances, as fractions of Miller indices
  // are: how often is the product of max(1, N sin(pi x)) at most `most`?
  constexpr int steps = 16;
  std::array<std::array<double, steps>, 3> factor;
  for (std::size_t c = 0; c < 3; ++c)
    for (int i = 0; i < steps; ++i)
      factor[c][std::size_t(i)] =
          std::max(1.0, n[c] * std::sin(std::numbers::pi * (i + 0.5) / (2 * steps)));
  // On the last axis exactly.
  double lit = 0;
  for (double a : factor[0])
    for (double b : factor[1])
      lit += std::asin(std::clamp(most / (a * b * n[2]), 0.0, 1.0)) * 2 / std::numbers::pi;
  const double share = lit / (steps * steps);
  const Detector &d = e.detector;
  const double ofPixel = double(d.oversample * d.oversample) * double(d.layers);
  const double bright = program.derives ? share : inFringes * share;
  return 1 - std::pow(1 - bright, lanes * ofPixel) + look;
}

/// The share of the samples that is computed.
double shareOf(const Experiment &e, const CulledProgram &program, bool single) {
  if (rowOf(e.variant.shape).profile == SpotProfile::Grating)
    return shareOfGrating(e, program);
  const double radius = radiusOf(e, program, single);
  if (!std::isfinite(radius) || e.variant.diffuse)
    return 1;
  const auto [edges, volume] = edgesAndVolume(e);
  double widest = 0;
  for (int i = 0; i < 3; ++i)
    widest = std::max(widest, 1 / (edges[i] * e.crystal.ncells[i]));
  const double w = radius * widest / std::sqrt(e.crystal.fudge); // 1/m
  const double wavelength = e.variant.sources == Sources::Listed && !e.beam.sourceWavelength.empty()
                                ? e.beam.sourceWavelength.front()
                                : e.beam.wavelength;
  const Detector &d = e.detector;
  const double distance =
      e.variant.distance == DistanceInput::Distance ? d.distance : d.closeDistance;
  const double angle = d.pixelSize / distance; // that a pixel is seen under, where it is largest
  // Reflections on as much of the sphere as a pixel is of, and the pixels of their spots.
  const double perPixel = angle * angle / (wavelength * wavelength) * 2 * w * volume;
  const double spot = w * wavelength / angle;
  const double rows = std::max(1.6 * spot, 1.0);
  return perPixel * (rows + 1) * (rows + 3); // in blocks of two rows of four pixels
}

} // namespace

/// Samples of one beam and one phi step.
static double samplesOfGroup(const Experiment &e) {
  const Detector &d = e.detector;
  const double width = double(d.roiFastMax - d.roiFastMin + 1);
  const double height = double(d.roiSlowMax - d.roiSlowMin + 1);
  return width * height * double(e.panelCount()) * double(d.oversample * d.oversample) *
         double(d.layers) * double(e.mosaicDomains());
}

/// Where pixels stand otherwise than in the rows of flat panels, the directions of all samples are
/// written down first: is the time that takes small beside what is saved, and the memory too?
static bool directionsPay(const Experiment &e) {
  constexpr std::int64_t mostPoints = std::int64_t(1) << 23; // 24 bytes each
  constexpr std::int64_t fewestOrientations = 256;
  const std::int64_t points =
      productOf({e.imagePanels(), e.detector.slowPixels, e.detector.fastPixels,
                 e.detector.oversample, e.detector.oversample, e.detector.layers},
                "directions");
  return points <= mostPoints &&
         e.sourceCount() * e.goniometer.phiSteps * e.mosaicDomains() >= fewestOrientations;
}

CullSetting cullFor(std::optional<CullSetting> wanted, const Experiment &experiment,
                    Precision precision, ImageType pixels, const Derivative &derivative) {
  const ProgramVariant &variant = experiment.variant;
  const CulledProgram program{.setting = wanted.value_or(CullSetting::exact()),
                              .derives = derivative.mode != Derivative::Mode::Value,
                              .toSingle = pixels == ImageType::F32};
  if (program.setting.isOff() || variant.isDrawn() || variant.averaging == Averaging::Reflections)
    return CullSetting::off();
  if (variant.averaging == Averaging::Spots)
    return wanted.value_or(CullSetting::below(ofSpots * experiment.average.tolerance));
  // A pixel has all reflections about the nearest, of which few have light.
  if (variant.averaging == Averaging::Closed)
    return wanted.value_or(CullSetting::below(ofAverages * experiment.average.tolerance));
  // Lists of what is lit number beams, orientations and pixels in 32 bits.
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (tryProduct(
          {experiment.sourceCount(), experiment.goniometer.phiSteps, experiment.mosaicDomains()})
              .value_or(most + 1) > most ||
      std::max(experiment.detector.fastPixels, experiment.detector.slowPixels) > most)
    return CullSetting::off();
  const bool lookedAt =
      variant.curvature != Curvature::Flat && rowOf(variant.shape).profile == SpotProfile::Grating;
  if ((variant.pixelList || lookedAt) && !directionsPay(experiment))
    return CullSetting::off();
  if (!wanted && samplesOfGroup(experiment) < fewSamples)
    return CullSetting::off();
  // NaN is not worth it.
  const bool pays = shareOf(experiment, program, precision != Precision::F64) < worth;
  return pays ? program.setting : CullSetting::off();
}

} // namespace nanobragg
