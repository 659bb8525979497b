#include "lib/Experiment/DefaultsChooser.h"

#include "lib/Experiment/Steps.h"
#include "lib/Experiment/Units.h"
#include "lib/Experiment/VectorAlgebra.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace nanobragg {
namespace {

constexpr double sourceDistance = 10; // m, only printed

StepRange divergenceOf(const std::optional<double> &range, const std::optional<double> &step,
                       const std::optional<std::int64_t> &steps, Rule exactRatios,
                       const char *flag) {
  requireFinite(range.value_or(0), flag);
  requireFinite(step.value_or(0), flag);
  return chooseStepRange(range ? units::fromMilliradians(*range) : unsetRange,
                         step ? units::fromMilliradians(*step) : unsetRange, steps.value_or(-1),
                         exactRatios, flag);
}

DivergenceReport reported(const StepRange &s) { return {s.range, s.step, s.steps}; }

} // namespace

void DefaultsChooser::chooseBeam() {
  const Options &o = options;
  Beam &beam = experiment.beam;
  if (o.lambda && o.energy)
    throw std::invalid_argument("-lambda and -energy both set the wavelength; give one");
  beam.wavelength = given.wavelength.value_or(units::angstrom);
  if (o.lambda) {
    requirePositive(*o.lambda, "-lambda", "A");
    beam.wavelength = units::wavelengthFromAngstrom(*o.lambda);
  }
  if (o.energy) {
    requirePositive(*o.energy, "-energy", "eV");
    beam.wavelength = units::wavelengthFromEnergy(*o.energy);
  }
  requirePositive(beam.wavelength, "-img or -mask: WAVELENGTH", "m");
  report.wavelength = beam.wavelength;

  requireFinite(o.dispersion.value_or(0), "-dispersion");
  // Dispersion has no step of its own, so that there is no ratio to round.
  StepRange dispersion =
      chooseStepRange(o.dispersion.value_or(0) / 100.0, unsetRange, o.dispersionSteps.value_or(-1),
                      semantics.exactRatios, "-dispersion");
  if (dispersion.range >= 2)
    throw std::invalid_argument("-dispersion: must be less than 200 percent, or the shortest "
                                "wavelength is negative; it is a full width");
  report.dispersion = reported(dispersion);
  report.hdiv = reported(chosenSteps([&](Rule rule) {
    return divergenceOf(o.hdivRange, o.hdivStep, o.hdivSteps, rule, "-hdivstep");
  }));
  report.vdiv = reported(chosenSteps([&](Rule rule) {
    return divergenceOf(o.vdivRange, o.vdivStep, o.vdivSteps, rule, "-vdivstep");
  }));

  beam.kahnFactor = o.polarization.value_or(0);
  requireFinite(beam.kahnFactor, "-polar");
  if (std::fabs(beam.kahnFactor) > 1)
    warn("-polar: a Kahn factor lies between -1 and 1");
  Evaluation &polarization = experiment.variant.polarization;
  polarization = Evaluation::Once;
  if (o.oversamplePolar) {
    polarization = Evaluation::Each;
  } else if (o.noPolarization) {
    polarization = Evaluation::None;
  }
  chooseFluence();

  requireNotNegative(o.water, "-water", "um");
  experiment.waterSize = o.water / 1e6;
  if (experiment.waterSize > 0) {
    experiment.variant.water = semantics.water == Rule::C ? Water::C : Water::Right;
    note(&Semantics::water);
  }
}

void DefaultsChooser::chooseFluence() {
  const Options &o = options;
  double &fluence = experiment.beam.fluence;
  const double exposure = o.exposure.value_or(1.0);
  const double beamSize = o.beamSize ? units::fromMillimetres(*o.beamSize) : 1e-4;
  fluence = o.fluence.value_or(constants::defaultFluence);
  requireFinite(exposure, "-exposure");
  experiment.beam.exposure = exposure;
  requireFinite(beamSize, "-beamsize");
  if (o.flux.value_or(0) != 0) {
    requirePositive(*o.flux, "-flux", "photons/s");
    if (exposure > 0 && beamSize >= 0) {
      requirePositive(beamSize, "-beamsize", "mm with -flux");
      fluence = *o.flux * exposure / beamSize / beamSize;
    }
  }
  requireNotNegative(fluence, "-fluence", "photons/m^2");
  if (fluence == 0)
    warn("-fluence 0: the image will be black");
  if (exposure > 0)
    report.flux = fluence / exposure * beamSize * beamSize;
}

void DefaultsChooser::chooseSources() {
  if (inputs.sources.empty())
    generateSources();
  else
    listSources();
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
  for (std::int64_t i = 0; i < w.steps; ++i)
    report.wavelengths.push_back(beam.wavelength * (1.0 + w.step * double(i) - w.range / 2.0));

  // The squared radius in units of the range; even grids are measured from their inner points.
  auto radius2 = [](double x, const DivergenceReport &s) {
    return (x * x - s.step * s.step / 4.0 * double(1 - s.steps % 2)) / s.range / s.range;
  };
  const Vec3 vertical = unit(cross(beam.direction, beam.polarizationAxis));
  report.divergenceSteps = 0;
  for (std::int64_t i = 0; i < h.steps; ++i) {
    for (std::int64_t j = 0; j < v.steps; ++j) {
      const double x = at(h, i), y = at(v, j);
      if (options.roundDivergence && h.range > 0 && v.range > 0 &&
          (radius2(x, h) + radius2(y, v)) * 4.0 > 1.1)
        continue;
      ++report.divergenceSteps;
      report.divergenceDeviations.push_back({x, y});
      Vec3 position =
          rotatedAbout(beam.polarizationAxis, y, scaled(beam.direction, -sourceDistance));
      position = rotatedAbout(vertical, x, position);
      for (std::int64_t k = 0; k < w.steps; ++k) {
        const double deviation = w.step * double(k) - w.range / 2.0;
        beam.unitHdiv.push_back(h.range > 0 ? x / h.range : 0);
        beam.unitVdiv.push_back(v.range > 0 ? y / v.range : 0);
        beam.unitDispersion.push_back(w.range > 0 ? deviation / w.range : 0);
        beam.sourceWeight.push_back(1);
        report.sources.push_back({position, 0, report.wavelengths[std::size_t(k)]});
        requirePositive(report.wavelengths[std::size_t(k)], "-dispersion: the wavelength", "m");
      }
    }
  }
  if (report.sources.empty())
    throw std::invalid_argument("-divsteps: no source lies in the ellipse of -hdivrange and "
                                "-vdivrange (1 rad when only the "
                                "number of steps is given); give the ranges, or -square_div");
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
  beam.wavelengthScale = options.wavelengthScale.value_or(1);
  beam.wavelengthOffset = options.wavelengthOffset.value_or(0) * units::angstrom;
  requirePositive(beam.wavelengthScale, "-lambda_scale", "");
  requireFinite(beam.wavelengthOffset, "-lambda_offset");
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
    complete.notes.push_back(
        "the polarization of every pixel is that of the first of the " +
        std::to_string(directions.size()) +
        " sources of -sourcefile, so that another order of its lines makes another image; "
        "-oversample_polar takes each source's own");
}

} // namespace nanobragg
