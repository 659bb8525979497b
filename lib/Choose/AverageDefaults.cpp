#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/AverageDraws.h"
#include "lib/Choose/AverageNodes.h"
#include "lib/Estimate/AverageError.h"
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

/// A normal distribution that is cut off where it has fallen by `exponent` lacks a fifteenth of the
/// tolerance. Integrands that end inside a pixel, as a spot's ridge at its edge,
/// need most nodes: 13 of them were off by 4e-4 of the peak, 20 by 1.5e-5, 30 by 7e-7.
void chooseQuadrature(double tolerance, Average &average) {
  average.tolerance = tolerance;
  average.exponent = std::log(1 / tolerance) + 1.1;
  chooseNodes(std::int64_t(std::ceil(13 + 13.0 / 3 * std::log10(1e-3 / tolerance))), average);
}

/// The maxima of a continuous spectrum that are not faint.
std::int64_t maximaOf(const std::vector<double> &density) {
  constexpr double faint = 1e-3; // part of the highest
  const double least = faint * std::ranges::max(density);
  std::int64_t maxima = 0;
  for (std::size_t i = 1; i + 1 < density.size(); ++i)
    maxima += density[i] > least && density[i] > density[i - 1] && density[i] >= density[i + 1];
  return maxima;
}

} // namespace

bool DefaultsChooser::isAveragedByDefault() {
  const Options &o = said.unread();
  const bool countsSamples = o.mosaicDomains || o.oversample || o.phiSteps || o.phiStep ||
                             o.dispersionSteps || o.hdivSteps || o.vdivSteps || o.hdivStep ||
                             o.vdivStep || o.interpolate.value_or(false);
  return (o.averagesByDefault || !inputs.spectrum.empty()) && o.shape == CrystalShape::Gauss &&
         !semantics.isC() && !countsSamples;
}

void DefaultsChooser::chooseAveraging() {
  Averaging averaging = Averaging::Sampled;
  if (const auto &given = said(&O::averaging)) {
    averaging = *given;
  } else if (isAveragedByDefault()) {
    averaging = Averaging::Closed;
    complete.notes.push_back("the crystal is Gaussian, so pixels are averaged in closed form "
                             "(--average=closed); --average=sampled uses samples");
  }
  experiment.variant.averaging = averaging;
  const double bandwidth = said(&O::bandwidthSigma).value_or(0);
  if (averaging == Averaging::Sampled) {
    if (bandwidth > 0)
      throw std::invalid_argument("--bandwidth-sigma is averaged in closed form; give "
                                  "--average=closed with it, or -dispersion in place of it");
    return;
  }
  if (semantics.isC())
    throw std::invalid_argument("--average: -compat c takes samples as the C program draws them; "
                                "give --average=sampled, or leave -compat c out");
  if (averaging == Averaging::Closed && said(&O::shape) != CrystalShape::Gauss)
    throw std::invalid_argument("--average: only Gaussian crystals have averages in closed form; "
                                "give -gauss_xtal, or --average=quadrature or --average=sampled");
  experiment.variant.bandwidth = bandwidth > 0 ? Bandwidth::Normal : Bandwidth::None;
  experiment.beam.bandwidthSigma = bandwidth;
}

void DefaultsChooser::chooseAveragedSweep() {
  Goniometer &g = experiment.goniometer;
  g.osc = said(&O::osc).value_or(given.osc.value_or(0));
  experiment.variant.sweep = g.osc != 0;
  report.phi0 = g.phi0;
  report.osc = g.osc;
  setPartsOfSweep(std::max<std::int64_t>(said(&O::phiSteps).value_or(1), 1));
}

void DefaultsChooser::setPartsOfSweep(std::int64_t parts) {
  Goniometer &g = experiment.goniometer;
  if (parts > 100000)
    throw std::invalid_argument("-phisteps: " + std::to_string(parts) +
                                " parts of a rotation are too many; use fewer");
  g.phiSteps = parts;
  g.phiStepFraction = 1 / double(parts);
  report.phiSteps.clear();
  for (std::int64_t i = 0; i < parts; ++i)
    report.phiSteps.push_back(g.phi0 + g.osc * (double(i) + 0.5) * g.phiStepFraction);
}

/// The fewest parts of a rotation for which the average is right, or more of which do not help.
void DefaultsChooser::splitSweep() {
  constexpr double help = 0.9;
  for (double error = averageError(experiment, report);
       averageErrorMayBe * error > experiment.average.tolerance &&
       experiment.goniometer.phiSteps < 1000;) {
    const std::int64_t parts = experiment.goniometer.phiSteps;
    setPartsOfSweep(2 * parts);
    const double less = averageError(experiment, report);
    if (!(less < help * error))
      return setPartsOfSweep(parts);
    error = less;
  }
}

void DefaultsChooser::chooseMosaicBlocks() {
  Crystal &crystal = experiment.crystal;
  Mosaicity &mosaicity = experiment.variant.mosaicity;
  mosaicity = Mosaicity::None;
  if (const auto &abc = said(&O::mosaicAbc)) {
    mosaicity = Mosaicity::Ellipsoid;
    crystal.mosaicAbc = *abc;
  } else if (crystal.mosaicSpread > 0) {
    mosaicity = Mosaicity::Ball;
  }
}

/// As many as have a few in the smallest part of what is averaged that lights a pixel.
std::int64_t DefaultsChooser::fewestDraws() const {
  constexpr double inLight = 8, fewest = 64, most = 1 << 16;
  const double draws = inLight / litShare(experiment, report);
  return std::int64_t(std::clamp(std::ceil(std::isnan(draws) ? most : draws), fewest, most));
}

void DefaultsChooser::chooseAverage() {
  if (isSampled())
    return;
  if (experiment.variant.structureFactors == StructureFactors::Tricubic)
    experiment.variant.structureFactors = StructureFactors::Nearest;
  const bool draws = experiment.variant.isDrawn();
  chooseQuadrature(said(&O::averageTolerance).value_or(draws ? 1e-2 : 1e-3), experiment.average);
  if (experiment.variant.bandwidth == Bandwidth::Spectrum) {
    // A spot of a large crystal's low orders may take many lines of the spectrum at once, and its
    // cumulants say whether that shows.
    constexpr std::int64_t ofCumulants = 2, ofMaximum = 8, most = 256;
    Average &average = experiment.average;
    const std::int64_t lines = std::max(maximaOf(experiment.beam.spectrumDensity), std::int64_t(1));
    chooseNodes(
        std::min(std::int64_t(average.nodes.size()) + ofCumulants + ofMaximum * (lines - 1), most),
        average);
  }
  switch (experiment.variant.averaging) {
  case Averaging::Sampled:
  case Averaging::Reflections: // made of an experiment whose averages are closed
  case Averaging::Spots:
    break;
  case Averaging::Closed:
    if (!said(&O::phiSteps))
      splitSweep();
    break;
  case Averaging::Drawn:
    drawAverage(experiment.variant, 0, said(&O::averageDraws).value_or(4096), experiment.average);
    break;
  case Averaging::Quadrature:
    drawAverage(experiment.variant, 0, said(&O::averageDraws).value_or(fewestDraws()),
                experiment.average);
    break;
  }
  experiment.average.around = reflectionsAround();
}

/// Within seven standard deviations (exp(-24)) of how far reflections are spread in units of Miller
/// indices, by the longest scattering vector on the detector, of what half a pixel and half a step
/// move over.
std::int64_t DefaultsChooser::reflectionsAround() const {
  const Beam &beam = experiment.beam;
  const Crystal &crystal = experiment.crystal;
  const Detector &d = experiment.detector;
  const DetectorReport &placed = report.detector;
  // The largest angle to the beam is that of a corner; several panels may be anywhere.
  double angle =
      d.panels.empty() && experiment.variant.curvature == Curvature::Flat ? 0 : std::numbers::pi;
  for (const double fast : {0.0, d.pixelSize * double(d.fastPixels)})
    for (const double slow : {0.0, d.pixelSize * double(d.slowPixels)}) {
      const Vec3 corner =
          sum(placed.pix0, sum(scaled(placed.fastAxis, fast), scaled(placed.slowAxis, slow)));
      angle = std::max(
          angle, std::atan2(length(cross(corner, beam.direction)), dot(corner, beam.direction)));
    }
  double shortest = beam.wavelength;
  for (const double wavelength : beam.sourceWavelength)
    shortest = std::min(shortest, beam.wavelengthOffset + beam.wavelengthScale * wavelength);
  const double longest = 2 * std::sin(angle / 2) / shortest;
  const double blocks = crystal.widestMosaicSpread();
  const double sweep =
      std::fabs(experiment.goniometer.osc * experiment.goniometer.phiStepFraction) / 2;
  const double divergence = std::max(beam.hdivSigma, beam.vdivSigma) / shortest;
  const double pixel = d.pixelSize / double(d.oversample) / std::numbers::sqrt2 /
                       (std::fabs(placed.closeDistance) * shortest);
  double most = 0;
  for (std::size_t i = 0; i != 3; ++i) {
    const double ofShape = std::sqrt(constants::gaussWidth / 4) / crystal.ncells[i];
    const double sigma =
        std::hypot(ofShape, cellEdges[i] * std::hypot(longest * blocks, divergence,
                                                      longest * beam.bandwidthSigma));
    most = std::max(most, 7 * sigma + cellEdges[i] * (longest * sweep + pixel));
  }
  return std::int64_t(std::clamp(std::ceil(most - 0.5), 0.0, 20.0));
}

} // namespace nanobragg
