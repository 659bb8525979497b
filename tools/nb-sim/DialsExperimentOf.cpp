#include "tools/nb-sim/DialsExperimentOf.h"

#include "lib/Experiment/DetectorGeometry.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <cmath>

namespace nanobragg {
namespace {

constexpr double mm = 1000;

/// Rows are the axes x, y, z of the other frame in ours.
struct LabFrame {
  Vec3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  Vec3 operator()(const Vec3 &v) const { return {dot(x, v), dot(y, v), dot(z, v)}; }
};

LabFrame frameOf(const Experiment &e, bool keep) {
  if (keep)
    return {};
  const Vec3 &beam = e.beam.direction;
  const auto across = [&](const Vec3 &v) { return difference(v, scaled(beam, dot(beam, v))); };
  Vec3 x = across(e.goniometer.spindleAxis);
  if (length(x) < 1e-6)
    x = across(e.detector.fastAxis);
  if (length(x) < 1e-6)
    x = across(e.detector.slowAxis);
  LabFrame frame;
  frame.z = scaled(beam, -1);
  frame.x = unit(x);
  frame.y = cross(frame.z, frame.x);
  // Axes that stand along ours are ours exactly.
  for (Vec3 *axis : {&frame.x, &frame.y, &frame.z})
    for (double &component : *axis)
      if (std::fabs(component - std::round(component)) < 1e-15)
        component = std::round(component);
  return frame;
}

bool close(const Vec3 &a, const Vec3 &b, double tolerance) {
  return length(difference(a, b)) <= tolerance;
}

std::vector<io::DialsPanel> panelsOf(const CompleteExperiment &complete, const CommandLine &line,
                                     const LoadedInputs &loaded, const LabFrame &frame) {
  const Experiment &e = complete.experiment;
  const Detector &d = e.detector;
  std::vector<io::DialsPanel> panels;
  const std::size_t count = std::max<std::size_t>(d.panels.size(), 1);
  const io::DialsExperiment *source = loaded.dials.empty() ? nullptr : &loaded.dials.front();
  for (std::size_t i = 0; i < count; ++i) {
    const DetectorReport placed =
        d.panels.empty() ? complete.report.detector
                         : placePanel(d, e.beam.direction, complete.report.detector, d.panels[i]);
    io::DialsPanel p;
    if (source && i < source->panels.size())
      p = source->panels[i];
    else if (count > 1)
      p.name = "panel" + std::to_string(i);
    p.origin = frame(scaled(placed.pix0, mm));
    p.fast = frame(placed.fastAxis);
    p.slow = frame(placed.slowAxis);
    p.pixels = {d.panels.empty() ? d.fastPixels : d.panels[i].fastPixels,
                d.panels.empty() ? d.slowPixels : d.panels[i].slowPixels};
    p.pixelSize = {d.pixelSize * mm, d.pixelSize * mm};
    if (!source && d.sensorThickness > 0) {
      p.thickness = d.sensorThickness * mm;
      p.mu = std::isfinite(d.attenuationDepth) ? 1 / (d.attenuationDepth * mm) : 0;
      p.material = "Si";
      p.parallax = p.mu > 0;
    }
    if (!source) {
      p.gain = d.gain;
      p.trustedRange = {0, 2147483647.0};
    }
    panels.push_back(p);
  }
  return panels;
}

bool samePanels(const std::vector<io::DialsPanel> &a, const std::vector<io::DialsPanel> &b) {
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!close(a[i].origin, b[i].origin, 1e-9) || !close(a[i].fast, b[i].fast, 1e-12) ||
        !close(a[i].slow, b[i].slow, 1e-12) || a[i].pixels != b[i].pixels ||
        std::fabs(a[i].pixelSize[0] - b[i].pixelSize[0]) > 1e-12)
      return false;
  return true;
}

/// Models that are still those of the file are written as they were read.
void keepTexts(io::DialsExperiment &e, const io::DialsExperiment &source,
               const CompleteExperiment &complete) {
  const io::DialsBeam &a = e.beam, &b = source.beam;
  if (close(a.direction, b.direction, 1e-12) &&
      std::fabs(a.wavelength / b.wavelength - 1) < 1e-12 &&
      close(a.polarizationNormal, b.polarizationNormal, 1e-12) &&
      std::fabs(a.polarizationFraction - b.polarizationFraction) < 1e-12)
    e.beamText = source.beamText;
  if (samePanels(e.panels, source.panels))
    e.detectorText = source.detectorText;
  if (e.scan && source.scan && e.scan->images() == source.scan->images() &&
      std::fabs(e.scan->start - source.scan->start) < 1e-12 &&
      std::fabs(e.scan->width - source.scan->width) < 1e-12) {
    e.scan = source.scan;
    e.scanText = source.scanText;
  }
  if (!source.crystal || complete.experiment.variant.cellSource != CellSource::Matrix)
    return;
  if (!e.scan && (complete.report.phi0 != 0 || complete.report.osc > 0))
    return; // it was turned
  // The crystal as it was used, which has fixed and setting rotations in it.
  const std::array<Vec3, 3> &used = complete.report.reciprocalCell.vectors;
  const std::array<Vec3, 3> stars = io::reciprocalOf(source.crystal->real);
  bool same = complete.experiment.crystal.misset == Vec3{};
  for (int i = 0; i < 3; ++i) {
    Vec3 v = stars[i];
    if (source.goniometer)
      for (const Mat3 *m : {&source.goniometer->fixed, &source.goniometer->setting})
        v = {(*m)[0] * v[0] + (*m)[1] * v[1] + (*m)[2] * v[2],
             (*m)[3] * v[0] + (*m)[4] * v[1] + (*m)[5] * v[2],
             (*m)[6] * v[0] + (*m)[7] * v[1] + (*m)[8] * v[2]};
    same = same && close(v, used[i], 1e-10);
  }
  if (same || !source.crystal->atScanPoints.empty()) {
    e.crystal = source.crystal;
    e.crystalText = source.crystalText;
    e.goniometer = source.goniometer;
    e.goniometerText = source.goniometerText;
  }
}

std::optional<io::Averages> averagesOf(const Experiment &x) {
  if (x.variant.isSampled())
    return std::nullopt;
  io::Averages averages;
  averages.how = x.variant.averaging;
  if (x.variant.mosaicity == Mosaicity::Ball)
    averages.mosaicSpread = units::degrees(x.crystal.mosaicSpread);
  if (x.variant.mosaicity == Mosaicity::Ellipsoid)
    averages.mosaicAbc = {units::degrees(x.crystal.mosaicAbc[0]),
                          units::degrees(x.crystal.mosaicAbc[1]),
                          units::degrees(x.crystal.mosaicAbc[2])};
  if (x.variant.bandwidth == Bandwidth::Normal)
    averages.bandwidthSigma = x.beam.bandwidthSigma * 100;
  if (x.variant.divergence == Divergence::Normal)
    averages.divergenceSigma = {x.beam.hdivSigma * 1000, x.beam.vdivSigma * 1000};
  return averages;
}

} // namespace

io::DialsExperiment simulatedExperiment(const CompleteExperiment &complete, const CommandLine &line,
                                        const LoadedInputs &loaded, std::int64_t frames) {
  const Experiment &x = complete.experiment;
  const LabFrame frame = frameOf(x, loaded.geometryFromFile);
  io::DialsExperiment e;
  e.beam.direction = frame(scaled(x.beam.direction, -1));
  e.beam.wavelength = complete.report.wavelength * 1e10;
  e.beam.polarizationNormal = frame(unit(cross(x.beam.polarizationAxis, x.beam.direction)));
  e.beam.polarizationFraction =
      x.variant.polarization == Evaluation::None ? 0.5 : (x.beam.kahnFactor + 1) / 2;
  e.beam.flux = complete.report.flux;
  for (std::size_t i = 0; i < x.beam.sourceWavelength.size(); ++i)
    e.beam.spectrum.push_back({x.beam.sourceWavelength[i] * 1e10, x.beam.sourceWeight[i]});
  if (x.variant.bandwidth == Bandwidth::Spectrum) {
    const std::vector<double> &nodes = x.beam.spectrumWavelength.values;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      e.beam.spectrum.push_back({nodes[i] * 1e10, x.beam.spectrumDensity[i]});
    // Programs for monochromatic beams take a pink one for such.
    constexpr double wide = 1.15;
    if (nodes.back() > wide * nodes.front())
      e.beam.wavelengthRange = {nodes.front() * 1e10, nodes.back() * 1e10};
  }
  e.averages = averagesOf(x);
  e.panels = panelsOf(complete, line, loaded, frame);
  const bool still = frames == 0 || (frames == 1 && !(complete.report.osc > 0));
  if (!still) {
    e.goniometer.emplace();
    e.goniometer->axis = frame(x.goniometer.spindleAxis);
    e.scan.emplace();
    e.scan->last = frames;
    e.scan->start = units::degrees(complete.report.phi0);
    e.scan->width = units::degrees(complete.report.osc);
    e.scan->exposure = line.options.exposure.value_or(1);
  }
  e.crystal.emplace();
  for (int i = 0; i < 3; ++i)
    e.crystal->real[i] = frame(complete.report.cell.vectors[i]);
  const double middle = complete.report.phi0 + std::max(complete.report.osc, 0.0) / 2;
  if (still && middle != 0)
    for (Vec3 &v : e.crystal->real) // no goniometer says where the spindle stood
      v = rotatedAbout(frame(x.goniometer.spindleAxis), middle, v);
  if (!loaded.hallSymbol.empty())
    e.crystal->hallSymbol = loaded.hallSymbol;
  if (!loaded.dials.empty() && loaded.dials.front().crystal)
    e.crystal->hallSymbol = loaded.dials.front().crystal->hallSymbol;
  return e;
}

io::DialsExperiment dialsExperimentOf(const CompleteExperiment &complete, const CommandLine &line,
                                      const LoadedInputs &loaded, std::int64_t frames) {
  io::DialsExperiment e = simulatedExperiment(complete, line, loaded, frames);
  if (!loaded.dials.empty())
    keepTexts(e, loaded.dials.front(), complete);
  return e;
}

} // namespace nanobragg
