#include "lib/Experiment/Culling.h"

#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/PhysicalConstants.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace nanobragg {
namespace {

/// A block of pixels that is computed for each that may have light.
constexpr double lanes = 8;
/// More of the samples than that are not worth looking for.
constexpr double worth = 0.8;
/// Samples of one beam and one phi step, below which finding its reflections takes longer than
/// computing them all.
constexpr double fewSamples = 3e5;

/// The radius of a spot in N h beyond which a sample counts for nothing, about; none where the
/// shape has no such radius.
double radiusOf(CrystalShape shape, std::string_view setting) {
  const bool exact = setting == "exact";
  const double tolerance = exact ? 0 : std::strtod(std::string(setting).c_str(), nullptr);
  switch (shape) {
  case CrystalShape::Gauss:
  case CrystalShape::GaussMatrix:
    return std::sqrt(constants::gaussWidth * (exact ? 437 : std::log(1 / tolerance) / 2));
  case CrystalShape::Tophat:
    return std::sqrt(constants::tophatEdge);
  case CrystalShape::Round:
    return exact ? INFINITY : std::pow(tolerance, -0.25) / std::numbers::pi * std::sqrt(3.0);
  case CrystalShape::Square:
    break;
  }
  return INFINITY;
}

/// Edges and volume of the unit cell, in m.
std::pair<std::array<double, 3>, double> cellOf(const Experiment &e) {
  const Crystal &c = e.crystal;
  if (e.variant.cellSource != CellSource::Matrix) {
    const UnitCell cell{c.cellA, c.cellB, c.cellC, c.cellAlpha, c.cellBeta, c.cellGamma};
    return {{c.cellA, c.cellB, c.cellC}, cell.volume()};
  }
  const Mat3 &m = c.reciprocalMatrix;
  const Vec3 a{m[0], m[3], m[6]}, b{m[1], m[4], m[7]}, d{m[2], m[5], m[8]};
  const double reciprocal = std::fabs(dot(a, cross(b, d)));
  return {{length(cross(b, d)) / reciprocal, length(cross(d, a)) / reciprocal,
           length(cross(a, b)) / reciprocal},
          1 / reciprocal};
}

/// The share of the samples that is computed.
double shareOf(const Experiment &e, std::string_view setting) {
  const double radius = radiusOf(e.variant.shape, setting);
  if (!std::isfinite(radius))
    return 1;
  const auto [edges, volume] = cellOf(e);
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
  const double angle = d.pixelSize / distance; // of a pixel, where it is largest
  // Reflections on as much of the sphere as a pixel is of, and the pixels of their spots.
  const double perPixel = angle * angle / (wavelength * wavelength) * 2 * w * volume;
  const double spot = w * wavelength / angle;
  const double rows = std::max(1.6 * spot, 1.0);
  return perPixel * rows * (rows + lanes);
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

std::string cullFor(std::string_view wanted, const Experiment &experiment) {
  const std::string setting(wanted.empty() ? "exact" : wanted);
  if (setting == "off" || experiment.variant.curvature != Curvature::Flat)
    return "off";
  if (wanted.empty() && samplesOfGroup(experiment) < fewSamples)
    return "off";
  // NaN is not worth it.
  return shareOf(experiment, setting) < worth ? setting : "off";
}

std::string withoutCull(const std::string &variant) {
  const std::size_t word = variant.find(" cull=");
  return variant.substr(0, word);
}

bool cullFits(std::string_view has, std::string_view wanted) {
  if (has == "off" || has == "exact" || has == wanted)
    return true;
  if (wanted == "off" || wanted == "exact")
    return false;
  return std::strtod(std::string(has).c_str(), nullptr) <=
         std::strtod(std::string(wanted).c_str(), nullptr);
}

} // namespace nanobragg
