#include "lib/Experiment/DefaultsChooser.h"

#include "lib/Experiment/AverageError.h"
#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/NormalQuantiles.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace nanobragg {
namespace {

/// Nodes and weights of Gauss-Legendre quadrature over -1/2 to 1/2, by Newton's method on the
/// Legendre polynomial.
void chooseNodes(std::int64_t count, Average &average) {
  average.nodes.clear();
  average.weights.clear();
  for (std::int64_t i = 0; i != count; ++i) {
    double x = -std::cos(std::numbers::pi * (double(i) + 0.75) / (double(count) + 0.5));
    double slope = 1;
    for (int step = 0; step != 20; ++step) {
      double before = 0, value = 1;
      for (std::int64_t n = 1; n <= count; ++n) {
        const double next = (double(2 * n - 1) * x * value - double(n - 1) * before) / double(n);
        before = value;
        value = next;
      }
      slope = double(count) * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    average.nodes.push_back(x / 2);
    average.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
}

/// The normal deviate below which there is a share u of the distribution.
double normalDeviate(double u) {
  return std::copysign(quantileOfMagnitude(std::fabs(2 * u - 1)), u - 0.5);
}

/// A normal distribution that is cut off where it has fallen by `exponent` lacks a fifteenth of the
/// tolerance. Integrands that end inside a pixel, as a spot's ridge at its edge,
/// need most nodes: 13 of them were off by 4e-4 of the peak, 20 by 1.5e-5, 30 by 7e-7.
void chooseQuadrature(double tolerance, Average &average) {
  average.tolerance = tolerance;
  average.exponent = std::log(1 / tolerance) + 1.1;
  chooseNodes(std::int64_t(std::ceil(13 + 13.0 / 3 * std::log10(1e-3 / tolerance))), average);
}

} // namespace

bool DefaultsChooser::isAveragedByDefault() {
  const Options &o = said.unread();
  const bool countsSamples = o.mosaicDomains || o.oversample || o.phiSteps || o.phiStep ||
                             o.dispersionSteps || o.hdivSteps || o.vdivSteps || o.hdivStep ||
                             o.vdivStep || o.interpolate.value_or(false);
  return o.averagesByDefault && o.shape == CrystalShape::Gauss && !semantics.isC() &&
         !countsSamples;
}

void DefaultsChooser::chooseAveraging() {
  Averaging averaging = Averaging::Sampled;
  if (const auto &given = said(&O::averaging)) {
    averaging = *given;
  } else if (isAveragedByDefault()) {
    averaging = Averaging::Closed;
    complete.notes.push_back("the crystal is Gaussian: pixels are averages in closed form, as "
                             "--average=closed says; --average=sampled takes samples");
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
                                "give -gauss_xtal, or --average=draws or --average=sampled");
  experiment.variant.bandwidth = bandwidth > 0;
  experiment.beam.bandwidthSigma = units::fromPercent(bandwidth);
}

void DefaultsChooser::chooseAveragedSweep() {
  Goniometer &g = experiment.goniometer;
  g.osc = said(&O::osc) ? units::radians(*said(&O::osc)) : given.osc.value_or(0);
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
    for (std::size_t i = 0; i != 3; ++i)
      crystal.mosaicAbc[i] = units::radians((*abc)[i]);
  } else if (said(&O::mosaicSpread).value_or(0) > 0) {
    mosaicity = Mosaicity::Ball;
    crystal.mosaicSpread = units::radians(*said(&O::mosaicSpread));
  }
}

void DefaultsChooser::chooseAverage() {
  if (isSampled())
    return;
  if (experiment.variant.structureFactors == StructureFactors::Tricubic)
    experiment.variant.structureFactors = StructureFactors::Nearest;
  chooseQuadrature(said(&O::averageTolerance).value_or(1e-3), experiment.average);
  if (experiment.variant.averaging == Averaging::Drawn)
    drawAverage(said(&O::averageDraws).value_or(4096));
  else if (!said(&O::phiSteps))
    splitSweep();
  experiment.average.around = reflectionsAround();
}

/// Points that fill the unit cube evenly: multiples of a vector of irrational numbers (M. Roberts,
/// 2018), powers of the root of x^(n + 1) = x + 1 in n dimensions.
void DefaultsChooser::drawAverage(std::int64_t draws) {
  constexpr int dimensions = 9;
  double root = 1;
  for (int i = 0; i != 100; ++i)
    root = std::pow(1 + root, 1.0 / (dimensions + 1));
  Average &a = experiment.average;
  const auto fill = [&](int dimension, auto place, bool normal) {
    const double step = std::pow(root, -(dimension + 1));
    for (std::int64_t i = 0; i != draws; ++i) {
      double whole = 0;
      const double u = std::modf(0.5 + step * double(i + 1), &whole);
      place(std::size_t(i)) = normal ? normalDeviate(u) : u - 0.5;
    }
  };
  const auto column = [](std::vector<double> &values) {
    return [&values](std::size_t i) -> double & { return values[i]; };
  };
  const auto number = std::size_t(draws);
  for (std::vector<double> *values : {&a.fast, &a.slow, &a.phi, &a.wavelength, &a.hdiv, &a.vdiv})
    values->resize(number);
  a.rotation.resize(number);
  fill(0, column(a.fast), false);
  fill(1, column(a.slow), false);
  fill(2, column(a.phi), false);
  fill(3, column(a.wavelength), true);
  fill(4, column(a.hdiv), true);
  fill(5, column(a.vdiv), true);
  for (std::size_t axis = 0; axis != 3; ++axis)
    fill(6 + int(axis), [&, axis](std::size_t i) -> double & { return a.rotation[i][axis]; }, true);
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
  const double blocks = std::max(
      {crystal.mosaicSpread, crystal.mosaicAbc[0], crystal.mosaicAbc[1], crystal.mosaicAbc[2]});
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
