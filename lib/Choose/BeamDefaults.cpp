#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/Steps.h"
#include "lib/Experiment/FactorsByEnergy.h"
#include "lib/Experiment/FlagUnits.h"
#include "lib/Experiment/NormalQuantiles.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr double sourceDistance = 10; // m, only printed

DivergenceReport reported(const StepRange &s) { return {s.range, s.step, s.steps}; }

} // namespace

/// Where sources are listed, these numbers are printed only, as by the C program.
StepRange DefaultsChooser::divergence(std::optional<double> Options::*range,
                                      std::optional<double> Options::*step,
                                      std::optional<std::int64_t> Options::*steps,
                                      const char *flag) {
  const auto get = [&](auto field) {
    return inputs.sources.empty() ? said(field) : said.unread().*field;
  };
  const std::optional<double> width = get(range), distance = get(step);
  const auto number = width || !distance ? get(steps) : std::nullopt;
  return chosenSteps(
      [&](Rule rule) { return chooseStepRange(width, distance, number, rule, flag); });
}

void DefaultsChooser::chooseNormalDivergence() {
  if (said(&O::hdivRange) || said(&O::vdivRange))
    throw std::invalid_argument("-divergence_sigma replaces a range of divergence; leave "
                                "out -divergence, -hdivrange and -vdivrange");
  constexpr std::int64_t usual = 5; // sources across
  Beam &beam = experiment.beam;
  experiment.variant.divergence = Divergence::Normal;
  beam.hdivSigma = *said(&O::hdivSigma);
  beam.vdivSigma = said(&O::vdivSigma).value_or(*said(&O::hdivSigma));
  if (!isSampled())
    return; // one source, which stands for all
  if (beam.hdivSigma > 0)
    report.hdiv.steps = said(&O::hdivSteps).value_or(usual);
  if (beam.vdivSigma > 0)
    report.vdiv.steps = said(&O::vdivSteps).value_or(usual);
}

void DefaultsChooser::chooseBeam() {
  Beam &beam = experiment.beam;
  if (said(&O::lambda) && said(&O::energy))
    throw std::invalid_argument("-lambda and -energy both set the wavelength; give one");
  beam.wavelength = given.wavelength.value_or(units::angstrom);
  if (said(&O::lambda))
    beam.wavelength = *said(&O::lambda);
  if (said(&O::energy))
    beam.wavelength =
        units::wavelengthFromEnergy(flagUnit::electronvolts.fromSI(*said(&O::energy)));
  const char *const source = said(&O::lambda)   ? "-lambda"
                             : said(&O::energy) ? "-energy"
                                                : "-img or -mask: WAVELENGTH";
  requirePositive(beam.wavelength, source, "m");
  report.wavelength = beam.wavelength;

  const bool listed = !inputs.sources.empty();
  const auto width = listed ? said.unread().dispersion : said(&O::dispersion);
  // Dispersion has no step of its own, so that there is no ratio to round.
  if (width.value_or(0) > 0)
    report.dispersion = reported(chooseStepRange(
        width, {}, listed ? said.unread().dispersionSteps : said(&O::dispersionSteps),
        semantics.exactRatios, "-dispersion"));
  if (!listed && said(&O::hdivSigma)) {
    chooseNormalDivergence();
  } else {
    report.hdiv = reported(divergence(&O::hdivRange, &O::hdivStep, &O::hdivSteps, "-hdivstep"));
    report.vdiv = reported(divergence(&O::vdivRange, &O::vdivStep, &O::vdivSteps, "-vdivstep"));
  }

  Evaluation &polarization = experiment.variant.polarization;
  polarization = Evaluation::Once;
  if (said(&O::oversamplePolar))
    polarization = Evaluation::Each;
  else if (said(&O::noPolarization))
    polarization = Evaluation::None;
  if (polarization != Evaluation::None)
    beam.kahnFactor = said(&O::polarization).value_or(0);
  chooseFluence();

  experiment.waterSize = said(&O::water);
  if (experiment.waterSize > 0) {
    experiment.variant.water = semantics.water == Rule::C ? Water::C : Water::Right;
    note(&Semantics::water);
  }
}

double DefaultsChooser::beamSize() const { return said(&O::beamSize).value_or(1e-4); }

void DefaultsChooser::chooseFluence() {
  double &fluence = experiment.beam.fluence;
  if (said(&O::flux)) {
    const double exposure = said(&O::exposure).value_or(1.0);
    fluence = *said(&O::flux) * exposure / beamSize() / beamSize();
    report.flux = fluence / exposure * beamSize() * beamSize();
  } else {
    fluence = said(&O::fluence).value_or(constants::defaultFluence);
    const Options &o = said.unread(); // for what is printed
    const double side = o.beamSize.value_or(1e-4);
    report.flux = fluence / o.exposure.value_or(1.0) * side * side;
  }
  requireNotNegative(fluence, "-fluence", "photons/m^2");
  if (fluence == 0)
    warn("-fluence 0: the image will be black");
}

namespace {
using Points = std::vector<std::array<double, 2>>;

double areaOf(const Points &points) {
  double area = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    area += (points[i][0] - points[i - 1][0]) * (points[i][1] + points[i - 1][1]) / 2;
  return area;
}

/// The curve through more points of the same lines: those of `more` in between.
Points refined(const Points &points, const Points &more) {
  Points all;
  std::size_t j = 0;
  for (std::size_t i = 0; i != points.size(); ++i) {
    for (; j != more.size() && more[j][0] < points[i][0]; ++j)
      if (i > 0 && more[j][0] > points[i - 1][0])
        all.push_back({more[j][0], between(points[i - 1], points[i], more[j][0])});
    all.push_back(points[i]);
  }
  return all;
}

/// A normal distribution of this bandwidth.
Points spectrumOf(const Beam &beam) {
  constexpr double reach = 4, shortest = 0.2; // standard deviations, part of the wavelength
  constexpr int steps = 400;
  Points points;
  for (int i = 0; i <= steps; ++i) {
    const double x = reach * (2.0 * i / steps - 1), part = 1 + beam.bandwidthSigma * x;
    if (part > shortest)
      points.push_back({part * beam.wavelength, std::exp(-x * x / 2)});
  }
  return points;
}
} // namespace

/// Whether a pixel sees reflections over so wide a range of wavelengths that its average would take
/// longer than the spots of a continuous spectrum, which the image may be made of.
bool DefaultsChooser::isTooWideForPixels() const {
  constexpr double wide = 0.06; // standard deviation over the wavelength
  const ProgramVariant &v = experiment.variant;
  return v.averaging == Averaging::Closed && v.bandwidth == Bandwidth::Normal &&
         experiment.beam.bandwidthSigma >= wide && !v.sweep && !v.diffuse &&
         v.curvature == Curvature::Flat && v.sources == Sources::Generated &&
         experiment.sourceCount() == 1;
}

void DefaultsChooser::chooseSources() {
  if (inputs.sources.empty())
    generateSources();
  else
    listSources();
  chooseEfficiency();
  const auto between = said(&O::spectrumBetween);
  if (!inputs.spectrum.empty())
    chooseSpectrum(inputs.spectrum);
  else if (isTooWideForPixels()) {
    complete.notes.push_back(
        "the bandwidth is so wide that each reflection has its own wavelength: "
        "it is a continuous spectrum");
    chooseSpectrum(spectrumOf(experiment.beam));
  } else if (between && inputs.sources.empty())
    throw std::invalid_argument("--spectrum-between needs a spectrum; give --spectrum=FILE, or "
                                "--expt with a polychromatic beam");
}

/// The part of the photons of a wavelength (m) that counts.
double DefaultsChooser::efficiencyAt(double wavelength) const {
  const std::vector<std::array<double, 2>> &table = inputs.efficiency;
  constexpr double rounding = 1e-6; // the table's ends may have been energies
  const auto energy = [](double of) { return text(units::wavelengthFromEnergy(1) / of) + " eV"; };
  if (wavelength < table.front()[0] * (1 - rounding) ||
      wavelength > table.back()[0] * (1 + rounding))
    throw std::invalid_argument("--efficiency: its table goes from " + energy(table.back()[0]) +
                                " to " + energy(table.front()[0]) + ", but the beam has " +
                                energy(wavelength) + "; add lines for that energy");
  auto next =
      std::ranges::upper_bound(table, wavelength, {}, [](const auto &row) { return row[0]; });
  if (next == table.begin())
    return table.front()[1];
  if (next == table.end())
    return table.back()[1];
  return between(*std::prev(next), *next, wavelength);
}

/// Takes photons that do not count out of the fluence. chooseSpectrum() does so for a continuous
/// spectrum.
void DefaultsChooser::chooseEfficiency() {
  Beam &beam = experiment.beam;
  if (inputs.efficiency.empty() || !inputs.spectrum.empty() || isTooWideForPixels())
    return;
  double all = 0, counted = 0;
  const std::vector<double> energies = sourceEnergies(experiment);
  for (std::size_t i = 0; i != energies.size(); ++i) {
    all += beam.sourceWeight[i];
    beam.sourceWeight[i] *= efficiencyAt(units::wavelengthFromEnergy(energies[i]));
    counted += beam.sourceWeight[i];
  }
  if (!(counted > 0))
    throw std::invalid_argument("--efficiency: no photon of this beam counts; its factors are 0 "
                                "at all wavelengths of the beam");
  for (double &weight : beam.sourceWeight)
    weight *= all / counted;
  beam.fluence *= counted / all;
}

double meanWavelength(std::span<const std::array<double, 2>> points) {
  double sum = 0, area = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto [x, a] = points[i - 1];
    const auto [y, b] = points[i];
    sum += (y - x) * (a * (2 * x + y) + b * (x + 2 * y)) / 6;
    area += (y - x) * (a + b) / 2;
  }
  return area > 0 ? sum / area : points.front()[0];
}

void DefaultsChooser::chooseSpectrum(Points points) {
  const bool isOfFile = !inputs.spectrum.empty();
  const auto refuse = [](const std::string &why) {
    throw std::invalid_argument("--spectrum-between=linear: " + why +
                                "; --spectrum-between=lines has lines at its points");
  };
  if (experiment.variant.averaging != Averaging::Closed)
    refuse("spots of a continuous spectrum are averages in closed form, of Gaussian crystals "
           "(-gauss_xtal --average=closed)");
  if (experiment.sourceCount() != 1 ||
      (isOfFile && experiment.variant.bandwidth != Bandwidth::None))
    refuse("the spectrum is that of the beam, which has no other spread of wavelengths and no "
           "samples of its divergence");
  if (experiment.variant.sweep || experiment.variant.curvature != Curvature::Flat)
    refuse("images of a continuous spectrum are stills on flat sensors");
  std::ranges::sort(points);
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i][0] == points[i - 1][0])
      refuse("the spectrum has two points at " + text(points[i][0] / units::angstrom) + " A");
  if (points.size() < 2)
    refuse("the spectrum has one point");
  double area = areaOf(points);
  if (!inputs.efficiency.empty()) {
    for (const auto &end : {points.back(), points.front()})
      efficiencyAt(end[0]); // says where it is not known
    points = refined(points, inputs.efficiency);
    for (auto &[wavelength, weight] : points)
      weight *= efficiencyAt(wavelength);
    const double counted = areaOf(points);
    if (!(counted > 0))
      refuse("no photon of the spectrum counts by --efficiency");
    experiment.beam.fluence *= counted / area;
    area = counted;
  }
  // It ends steeply where its ends are not 0.
  constexpr double steep = 1e-6; // by this part of the interval beside it
  const auto endAt = [&](std::size_t end, std::size_t beside) {
    return std::array{points[end][0] + steep * (points[end][0] - points[beside][0]), 0.0};
  };
  const std::size_t last = points.size() - 1;
  const std::array begin = endAt(0, 1), end = endAt(last, last - 1);
  if (points[last][1] > 0)
    points.push_back(end);
  if (points[0][1] > 0)
    points.insert(points.begin(), begin);
  Beam &beam = experiment.beam;
  experiment.variant.bandwidth = Bandwidth::Spectrum;
  for (const auto &[wavelength, weight] : points) {
    beam.spectrumWavelength.values.push_back(wavelength);
    beam.spectrumDensity.push_back(weight / area);
  }
  // Averages are taken about a normal distribution with the same mean that is, at least, as wide
  // and has no higher peak.
  const double mean = meanWavelength(points);
  double square = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto [x, a] = points[i - 1];
    const auto [y, b] = points[i];
    square += (y - x) / area *
              (a * (3 * x * x + 2 * x * y + y * y) + b * (x * x + 2 * x * y + 3 * y * y)) / 12;
  }
  beam.wavelength = mean;
  const double peak = std::ranges::max(beam.spectrumDensity);
  beam.bandwidthSigma = std::max(1 / (std::sqrt(2 * std::numbers::pi) * peak),
                                 std::sqrt(std::max(square - mean * mean, 0.0))) /
                        mean;
}

void DefaultsChooser::generateSources() {
  Beam &beam = experiment.beam;
  experiment.variant.sources = Sources::Generated;
  const DivergenceReport &h = report.hdiv, &v = report.vdiv, &w = report.dispersion;
  beam.hdivRange = h.range;
  beam.vdivRange = v.range;
  beam.dispersion = w.range;
  beam.sourceWeight.clear();
  if (double(h.steps) * double(v.steps) * double(w.steps) > 1e7)
    throw std::invalid_argument("-hdivsteps, -vdivsteps and -dispsteps make more than 10000000 "
                                "sources; reduce one of them");
  auto at = [](const DivergenceReport &s, std::int64_t i) {
    return s.step * double(i) - s.range / 2.0;
  };
  // Where the sources are in one direction on the unit scale, and in rad.
  const bool normal = experiment.variant.divergence == Divergence::Normal;
  auto deviations = [&](const DivergenceReport &s, double sigma) {
    std::vector<std::array<double, 2>> all;
    const std::vector<double> nodes = normalNodes(normal ? s.steps : 0);
    for (std::int64_t i = 0; i < s.steps; ++i)
      if (normal)
        all.push_back({nodes[std::size_t(i)], sigma * nodes[std::size_t(i)]});
      else
        all.push_back({s.range > 0 ? at(s, i) / s.range : 0, at(s, i)});
    return all;
  };
  for (std::int64_t i = 0; i < w.steps; ++i)
    report.wavelengths.push_back(beam.wavelength * (1.0 + w.step * double(i) - w.range / 2.0));

  // The squared radius in units of the range; even grids are measured from their inner points.
  auto radius2 = [](double x, const DivergenceReport &s) {
    return (x * x - s.step * s.step / 4.0 * double(1 - s.steps % 2)) / s.range / s.range;
  };
  const Vec3 vertical = unit(cross(beam.direction, beam.polarizationAxis));
  report.divergenceSteps = 0;
  for (const auto &[unitX, x] : deviations(h, beam.hdivSigma)) {
    for (const auto &[unitY, y] : deviations(v, beam.vdivSigma)) {
      if (h.range > 0 && v.range > 0 && said(&O::roundDivergence) &&
          (radius2(x, h) + radius2(y, v)) * 4.0 > 1.1)
        continue;
      ++report.divergenceSteps;
      report.divergenceDeviations.push_back({x, y});
      Vec3 position =
          rotatedAbout(beam.polarizationAxis, y, scaled(beam.direction, -sourceDistance));
      position = rotatedAbout(vertical, x, position);
      for (std::int64_t k = 0; k < w.steps; ++k) {
        const double deviation = w.step * double(k) - w.range / 2.0;
        beam.unitHdiv.push_back(unitX);
        beam.unitVdiv.push_back(unitY);
        beam.unitDispersion.push_back(w.range > 0 ? deviation / w.range : 0);
        beam.sourceWeight.push_back(1);
        report.sources.push_back({position, 0, report.wavelengths[std::size_t(k)]});
        requirePositive(report.wavelengths[std::size_t(k)], "-dispersion: the wavelength", "m");
      }
    }
  }
  if (report.sources.empty())
    throw std::invalid_argument(
        "-divsteps: no source lies in the ellipse of -hdivrange and -vdivrange (1 rad when only "
        "the number of steps is given); give the ranges, or -square_div");
  for (SourceReport &source : report.sources)
    source.intensity = 1.0 / double(report.sources.size());
}

void DefaultsChooser::listSources() {
  Beam &beam = experiment.beam;
  experiment.variant.sources = Sources::Listed;
  beam.sourceWeight.clear();
  double total = 0;
  constexpr double farOff = 30; // degrees
  bool farOffNamed = false;
  for (const SourceRow &row : inputs.sources) {
    const std::string line = "-sourcefile: source " + std::to_string(report.sources.size() + 1);
    SourceReport source;
    for (int i = 0; i < 3; ++i)
      source.position[i] = row.position[i].value_or(-sourceDistance * beam.direction[i]);
    source.intensity = row.weight.value_or(1.0);
    source.wavelength = row.wavelength.value_or(beam.wavelength);
    if (!(length(source.position) > 0) || !std::isfinite(length(source.position)))
      throw std::invalid_argument(line + " is at the sample; give the direction it lies in");
    requirePositive(source.wavelength, (line + ", wavelength").c_str(), "m");
    requireNotNegative(source.intensity, (line + ", weight").c_str(), "");
    // Nothing diverges so far; columns in another order do.
    const double cosine = -dot(unit(source.position), beam.direction);
    if (cosine < std::cos(units::radians(farOff)) && !farOffNamed) {
      farOffNamed = true;
      warn(line + " lies " +
           text(std::round(units::degrees(std::acos(std::clamp(cosine, -1.0, 1.0))))) +
           " degrees off the beam's direction; the columns are x y z weight wavelength, x y z from "
           "the sample to the source");
    }
    total += source.intensity;
    beam.sourceDirection.push_back(unit(source.position));
    beam.sourceWavelength.push_back(source.wavelength);
    beam.sourceWeight.push_back(source.intensity);
    report.sources.push_back(source);
  }
  auto differs = [&](double weight) { return weight != beam.sourceWeight.front(); };
  if (std::ranges::any_of(beam.sourceWeight, differs))
    note(&Semantics::sourceWeights);
  if (semantics.sourceWeights == Rule::C)
    std::ranges::fill(beam.sourceWeight, 1.0);
  else if (!(total > 0))
    throw std::invalid_argument("-sourcefile: all weights are 0; give one source a weight");
  chooseWavelengthScale();
  noteFirstSource();
}

void DefaultsChooser::chooseWavelengthScale() {
  Beam &beam = experiment.beam;
  beam.wavelengthScale = said(&O::wavelengthScale).value_or(1);
  beam.wavelengthOffset = said(&O::wavelengthOffset).value_or(0);
  for (const double wavelength : beam.sourceWavelength)
    requirePositive(beam.wavelengthOffset + beam.wavelengthScale * wavelength,
                    "-lambda_offset, -lambda_scale: the wavelength of a source", "m");
}

/// The factor once per pixel is that of the first source, as in the C program: a choice that
/// docs/semantics.md explains, and which a file in another order would make differently.
void DefaultsChooser::noteFirstSource() {
  const std::vector<Vec3> &directions = experiment.beam.sourceDirection;
  if (experiment.variant.polarization != Evaluation::Once || semantics.isC())
    return;
  constexpr double relevant = 1e-6; // rad: the factor differs by as much at most
  const auto apart = [&](const Vec3 &direction) {
    return length(cross(direction, directions.front())) > relevant ||
           dot(direction, directions.front()) < 0;
  };
  if (std::ranges::any_of(directions, apart))
    complete.notes.push_back("the polarization of every pixel is that of the first of the " +
                             std::to_string(directions.size()) +
                             " sources of -sourcefile, so that another order of its lines makes "
                             "another image; -oversample_polar takes each source's own");
}

} // namespace nanobragg
