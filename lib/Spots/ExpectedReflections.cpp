#include "lib/Spots/ExpectedReflections.h"

#include "lib/Experiment/CellGeometry.h"
#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Spots/Panels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace nanobragg {
namespace {

constexpr double mm = 1000;

/// a, b, c in A.
std::array<Vec3, 3> realVectors(const Experiment &e) {
  const Crystal &c = e.crystal;
  std::optional<UnitCell> cell;
  std::array<Vec3, 3> reciprocal{};
  if (e.variant.cellSource != CellSource::Matrix)
    cell = unitCellOf({c.cellA, c.cellB, c.cellC, c.cellAlpha, c.cellBeta, c.cellGamma});
  if (e.variant.cellSource == CellSource::Cell)
    reciprocal = defaultSetting(*cell, e.variant.cellSetting);
  else
    for (std::size_t i = 0; i != 9; ++i)
      reciprocal[i % 3][i / 3] = c.reciprocalMatrix[i] * units::angstrom;
  for (Vec3 &vector : reciprocal)
    vector = rotatedXYZ(c.misset, vector);
  return latticeOf(reciprocal, cell ? &*cell : nullptr).real.vectors;
}

std::vector<io::DialsPanel> panelsOf(const Experiment &e) {
  const Detector &d = e.detector;
  const DetectorReport whole =
      placeDetector(d, e.beam.direction, e.variant.pivot, e.variant.distance, Rule::Right);
  std::vector<io::DialsPanel> panels;
  for (const DetectorReport &placed : placePanels(d, e.beam.direction, whole)) {
    const std::size_t i = panels.size();
    io::DialsPanel &p = panels.emplace_back();
    p.origin = scaled(placed.pix0, mm);
    p.fast = placed.fastAxis;
    p.slow = placed.slowAxis;
    p.pixels = {d.panels.empty() ? d.fastPixels : d.panels[i].fastPixels,
                d.panels.empty() ? d.slowPixels : d.panels[i].slowPixels};
    p.pixelSize = {d.pixelSize * mm, d.pixelSize * mm};
    if (e.variant.capture != Capture::None && std::isfinite(d.attenuationDepth)) {
      p.thickness = d.sensorThickness * mm;
      p.mu = 1 / (d.attenuationDepth * mm);
      p.parallax = p.thickness > 0;
    }
  }
  return panels;
}

/// A source of the beam.
struct Source {
  Vec3 direction{}; ///< in which the light goes
  double wavelength = 0;
};
std::vector<Source> sourcesOf(const Experiment &e) {
  const Beam &b = e.beam;
  std::vector<Source> sources;
  const Vec3 vertical = unit(cross(b.direction, b.polarizationAxis));
  const double hdiv = e.variant.divergence == Divergence::Normal ? 0 : b.hdivRange,
               vdiv = e.variant.divergence == Divergence::Normal ? 0 : b.vdivRange;
  for (std::size_t i = 0; i != b.sourceWeight.size(); ++i)
    if (e.variant.sources == Sources::Listed)
      sources.push_back({scaled(unit(b.sourceDirection[i]), -1),
                         b.wavelengthOffset + b.wavelengthScale * b.sourceWavelength[i]});
    else
      sources.push_back(
          {rotatedAbout(vertical, hdiv * b.unitHdiv[i],
                        rotatedAbout(b.polarizationAxis, vdiv * b.unitVdiv[i], b.direction)),
           b.wavelength * (1 + b.dispersion * b.unitDispersion[i])});
  return sources;
}

/// As far as normal distributions have this part of their peak.
SpotSize sizeOf(const Experiment &e, double partiality) {
  const double sigmas = std::sqrt(-2 * std::log(partiality));
  const Crystal &c = e.crystal;
  SpotSize size;
  size.normal =
      e.variant.bySource || (e.beam.dispersion == 0 && e.beam.hdivRange == 0 &&
                             e.beam.vdivRange == 0 && e.variant.sources == Sources::Generated);
  const auto [edges, volume] = edgesAndVolume(e);
  const double across = c.ncellsCross[0] + c.ncellsCross[1] + c.ncellsCross[2];
  for (std::size_t i = 0; i != 3; ++i) {
    const double cells = std::max(1.0, c.ncells[i] - std::fabs(across));
    size.node = std::max(size.node, units::angstrom / (cells * edges[i]));
  }
  size.node *= sigmas * std::sqrt(rowOf(e.variant.shape).variance / c.fudge);
  size.mosaic = sigmas * c.widestMosaicSpread();
  const Beam &b = e.beam;
  const bool isSpectrum = e.variant.bandwidth == Bandwidth::Spectrum;
  size.divergence = sigmas * std::max(b.hdivSigma, b.vdivSigma);
  size.bandwidth = sigmas * (isSpectrum ? 0 : b.bandwidthSigma);
  if (e.variant.bySource)
    return size;
  size.divergence += std::max(b.hdivRange, b.vdivRange) / 2;
  size.bandwidth += b.dispersion / 2;
  for (const double listed : b.sourceWavelength) {
    const double wavelength = b.wavelengthOffset + b.wavelengthScale * listed;
    size.bandwidth = std::max(size.bandwidth, std::fabs(wavelength / b.wavelength - 1));
  }
  for (const Vec3 &direction : b.sourceDirection)
    size.divergence =
        std::max(size.divergence, std::acos(std::clamp(-dot(direction, b.direction), -1.0, 1.0)));
  return size;
}

/// Pixels beyond the edges of a panel where spots are looked for, at least.
constexpr double leastBeyond = 20;

/// An experiment's image as its spots are predicted from.
struct Image {
  Image(const Experiment &e, double partiality, bool ofImage);
  explicit Image(const Experiment &e) {
    model.beam.direction = scaled(e.beam.direction, -1);
    model.beam.wavelength = e.beam.wavelength / units::angstrom;
    nominal = e.beam.wavelength;
    layers = e.variant.bySource ? e.detector.layers : 1;
    model.panels = panelsOf(e);
    model.crystal.emplace();
    model.crystal->real = realVectors(e);
    step = e.variant.sweep ? e.goniometer.osc : 0;
    middle = e.goniometer.phi0 + step / 2;
    if (step != 0) {
      model.goniometer.emplace();
      model.goniometer->axis = e.goniometer.spindleAxis;
      model.scan.emplace();
      model.scan->start = units::degrees(middle - std::fabs(step) / 2);
      model.scan->width = units::degrees(std::fabs(step));
    } else {
      for (Vec3 &vector : model.crystal->real)
        vector = rotatedAbout(e.goniometer.spindleAxis, middle, vector);
    }
    if (e.variant.bandwidth == Bandwidth::Spectrum) {
      const std::vector<double> &nodes = e.beam.spectrumWavelength.values;
      limits.spectrum = {nodes.front() / units::angstrom, nodes.back() / units::angstrom};
      model.beam.wavelength = nodes.front() / units::angstrom;
    }
    limits.dmin = e.variant.dmin ? e.dmin / units::angstrom : 0;
    limits.boxes = false;
  }

  ExpectedReflection expected(const Spot &spot) const {
    ExpectedReflection r;
    r.hkl = spot.hkl;
    r.panel = std::int32_t(spot.panel);
    r.fast = spot.pixel[0];
    r.slow = spot.pixel[1];
    r.wavelength = spot.wavelength > 0 ? spot.wavelength * units::angstrom : nominal;
    if (limits.spectrum) {
      const auto shiftOf = [&](double end) { return end * units::angstrom / nominal - 1; };
      r.begin = shiftOf((*limits.spectrum)[0]);
      r.end = shiftOf((*limits.spectrum)[1]);
    }
    if (step == 0)
      return r;
    const auto inStep = [&](double phi) { return std::clamp((phi - middle) / step, -0.5, 0.5); };
    std::tie(r.begin, r.end) = std::minmax({inStep(spot.about[0]), inStep(spot.about[1])});
    r.turn = inStep(spot.phi);
    return r;
  }

  io::DialsExperiment model;
  PredictionLimits limits;
  double nominal = 0;          ///< wavelength, m
  std::int64_t layers = 1;     ///< how many of the sensor have spots of their own
  double step = 0, middle = 0; ///< width and middle of the rotation, rad
};

Image::Image(const Experiment &e, double partiality, bool ofImage) : Image(e) {
  limits.size = sizeOf(e, partiality);
  limits.direct = limits.grazing = ofImage;
  limits.beyond = leastBeyond;
  if (!ofImage)
    return;
  // As far as a spot beside the detector reaches into it, with some room for slanted rays.
  const Vec3 forward = unit(scaled(model.beam.direction, -1));
  double pixelAngle = INFINITY, cosine = 1; // the smallest, and that of the largest angle
  for (const io::DialsPanel &p : model.panels) {
    pixelAngle = std::min(pixelAngle, p.pixelSize[0] / length(p.origin));
    for (const Vec3 &ray : cornersOf(p, 0))
      cosine = std::min(cosine, dot(ray, forward));
  }
  const SpotSize &size = limits.size;
  const double longest = limits.spectrum ? (*limits.spectrum)[1] : model.beam.wavelength;
  const double sines = cosine > 0 ? std::sqrt(2 * (1 - cosine)) : 2; // twice the sine of half of it
  const double angle = size.node * longest + size.divergence + sines * size.mosaic +
                       std::max(sines, 1.0) * size.bandwidth;
  limits.beyond = std::clamp(2 * angle / pixelAngle, leastBeyond, 1000.0);
}

} // namespace

std::vector<std::optional<ExpectedReflection>>
expectedReflections(const Experiment &e, double partiality, bool ofImage,
                    decltype(PredictionLimits::hasPixels) hasPixels) {
  Image image(e, partiality, ofImage);
  image.limits.hasPixels = std::move(hasPixels);
  std::vector<std::optional<ExpectedReflection>> expected;
  const auto addSpots = [&](std::int64_t source) {
    const std::vector<Spot> spots = predictSpots(image.model, image.limits);
    if (!e.variant.bySource)
      expected.reserve(spots.size());
    for (const Spot &spot : spots) {
      ExpectedReflection r = image.expected(spot);
      r.source = source;
      if (r.begin < r.end)
        for (r.layer = 0; r.layer != image.layers; ++r.layer)
          expected.emplace_back(r);
    }
  };
  if (!e.variant.bySource)
    addSpots(0);
  else
    for (std::int64_t i = 0; const Source &source : sourcesOf(e)) {
      image.model.beam.direction = scaled(source.direction, -1);
      if (!image.limits.spectrum)
        image.model.beam.wavelength = source.wavelength / units::angstrom;
      addSpots(i++);
    }
  return expected;
}

bool areMoreReflections(const Experiment &e, double partiality, bool ofImage, double most) {
  const Image image(e, partiality, ofImage);
  const auto times = e.variant.bySource ? e.sourceCount() * e.detector.layers : 1;
  return areMoreSpots(image.model, image.limits, most / double(times));
}

std::vector<std::optional<ExpectedReflection>>
askedReflections(const Experiment &e, std::span<const AskedReflection> asked) {
  Image image(e);
  image.limits.beyond = leastBeyond;
  std::map<std::array<std::int32_t, 3>, std::vector<Spot>> spots;
  for (const AskedReflection &row : asked)
    spots[row.millerIndex] = {};
  image.limits.nodes.emplace();
  for (const auto &[millerIndex, of] : spots)
    image.limits.nodes->push_back(millerIndex);
  for (const Spot &spot : predictSpots(image.model, image.limits))
    spots[spot.hkl].push_back(spot);
  std::vector<std::optional<ExpectedReflection>> expected(asked.size());
  for (std::size_t i = 0; i != asked.size(); ++i) {
    const double angle = std::isnan(asked[i].angle) ? image.middle : asked[i].angle;
    double least = INFINITY;
    for (const Spot &spot : spots[asked[i].millerIndex]) {
      const double away = image.step == 0 ? 0 : std::fabs(spot.phi - angle);
      if ((asked[i].panel >= 0 && spot.panel != std::size_t(asked[i].panel)) || !(away < least))
        continue;
      least = away;
      expected[i] = image.expected(spot);
      if (!(expected[i]->begin < expected[i]->end)) // it lights the step from beside
        std::tie(expected[i]->begin, expected[i]->end) = std::pair(-0.5, 0.5);
    }
  }
  return expected;
}

} // namespace nanobragg
