#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/FreshSeed.h"
#include "lib/Choose/WholeNumber.h"
#include "lib/Experiment/CheckedSize.h"
#include "lib/Experiment/PointSpreadWidth.h"
#include "lib/Experiment/Units.h"
#include "lib/Quantities/LikelyUnits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <stdexcept>

namespace nanobragg {

std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", value);
  return buffer;
}

void requirePositive(double value, const char *flag, const char *unit) {
  if (!(value > 0) || !std::isfinite(value))
    throw std::invalid_argument(std::string(flag) + ": must be greater than 0 " + unit + ", not " +
                                text(value));
}

void requireNotNegative(double value, const char *flag, const char *unit) {
  if (!(value >= 0) || !std::isfinite(value))
    throw std::invalid_argument(std::string(flag) + ": must be at least 0 " + unit + ", not " +
                                text(value));
}

void DefaultsChooser::note(Rule Semantics::*rule) {
  if (semantics.*rule != Rule::Right)
    return;
  for (const SemanticSwitch &s : semanticSwitches())
    if (s.rule == rule && std::ranges::find(complete.notices, s.name) == complete.notices.end())
      complete.notices.push_back(s.name);
}

double DefaultsChooser::wholeNumber(double ratio, std::optional<double> ofC) {
  const double number = roundedUp(ratio, semantics.exactRatios);
  if (number != roundedUp(ofC.value_or(ratio), Rule::C))
    note(&Semantics::exactRatios);
  return number;
}

void DefaultsChooser::readHeaders() {
  auto read = [&](const HeaderValues &header, bool isMask) {
    auto take = [](std::optional<double> &field, std::optional<double> value, auto convert) {
      if (value)
        field = convert(*value);
    };
    auto same = [](double x) { return x; };
    given.fastPixels = header.fastPixels;
    given.slowPixels = header.slowPixels;
    take(given.pixelSize, header.pixelSize, units::fromMillimetres);
    take(given.distance, header.distance, units::fromMillimetres);
    take(given.closeDistance, header.closeDistance, units::fromMillimetres);
    take(given.wavelength, header.wavelength, units::wavelengthFromAngstrom);
    take(given.xBeam, header.beamCenterX, units::fromMillimetres);
    take(given.yBeam, header.beamCenterY, [&](double y) {
      // The C program measures a mask's beam centre from the other edge.
      double height = given.pixelSize.value_or(1e-4) * double(header.slowPixels);
      return isMask ? height - units::fromMillimetres(y) : units::fromMillimetres(y);
    });
    take(given.orgX, header.orgX, same);
    take(given.orgY, header.orgY, same);
    take(given.phi, header.phi, units::radians);
    if (header.oscRange.value_or(0) >= 0) // a negative range counts as none
      take(given.osc, header.oscRange, units::radians);
  };
  if (inputs.maskHeader)
    read(*inputs.maskHeader, true);
  if (inputs.imageHeader)
    read(*inputs.imageHeader, false);
}

void DefaultsChooser::chooseSeeds() {
  const std::int64_t clock = std::time(nullptr);
  const auto chosen = [&](const std::optional<std::int64_t> &given) {
    if (given)
      return *given;
    return semantics.clockSeed == Rule::C ? clock : freshSeed();
  };
  complete.noiseSeed = -chosen(said(&O::seed));
  missetSeed = -chosen(said.unread().missetSeed);
  mosaicSeed = -said.unread().mosaicSeed.value_or(12345678);
  if (said(&O::adcOffset) < 0)
    note(&Semantics::noiseWrap);
}

void DefaultsChooser::chooseRegion() {
  Detector &d = experiment.detector;
  auto bound = [&](int i, std::int64_t otherwise) {
    return said(&O::roi)[std::size_t(i)].value_or(otherwise);
  };
  report.roi = {bound(0, 0), bound(1, d.fastPixels), bound(2, 0), bound(3, d.slowPixels)};
  d.roiFastMin = report.roi[0];
  d.roiFastMax = std::min(report.roi[1], d.fastPixels - 1);
  d.roiSlowMin = report.roi[2];
  d.roiSlowMax = std::min(report.roi[3], d.slowPixels - 1);
  if (d.roiFastMin > d.roiFastMax || d.roiSlowMin > d.roiSlowMax)
    warn("-roi: the region has no pixels, the image will be empty");
  else if (report.roi[1] > d.fastPixels || report.roi[3] > d.slowPixels)
    warn("-roi: the region ends at " + std::to_string(report.roi[1]) + " along fast and at " +
         std::to_string(report.roi[3]) + " along slow, beyond the detector of " +
         std::to_string(d.fastPixels) + " x " + std::to_string(d.slowPixels) +
         " pixels; its order is fast, then slow");
}

void DefaultsChooser::chooseMask() {
  Detector &d = experiment.detector;
  const std::int64_t rows = d.slowPixels * experiment.panelCount();
  std::vector<std::uint8_t> &bytes = d.mask;
  if (inputs.mask) {
    const MaskImage &mask = *inputs.mask;
    if (mask.fastPixels != d.fastPixels || mask.slowPixels != rows ||
        tryProduct({mask.slowPixels, mask.fastPixels}) != std::int64_t(mask.pixels.size()))
      throw std::invalid_argument("-mask: the mask has " + std::to_string(mask.fastPixels) + " x " +
                                  std::to_string(mask.slowPixels) +
                                  " pixels but the detector has " + std::to_string(d.fastPixels) +
                                  " x " + std::to_string(rows) +
                                  "; use a mask of the detector's size");
    bytes.resize(mask.pixels.size());
    std::transform(mask.pixels.begin(), mask.pixels.end(), bytes.begin(),
                   [](std::uint16_t pixel) { return std::uint8_t(pixel != 0); });
  }
  maskPadding();
  experiment.variant.mask = !bytes.empty();
}

void DefaultsChooser::maskPadding() {
  Detector &d = experiment.detector;
  const auto isSmall = [&](const Panel &panel) {
    return panel.fastPixels < d.fastPixels || panel.slowPixels < d.slowPixels;
  };
  if (std::ranges::none_of(d.panels, isSmall))
    return;
  d.mask.resize(std::size_t(d.fastPixels * d.slowPixels * experiment.panelCount()), 1);
  std::size_t i = 0;
  for (const Panel &panel : d.panels)
    for (std::int64_t s = 0; s < d.slowPixels; ++s)
      for (std::int64_t f = 0; f < d.fastPixels; ++f, ++i)
        if (f >= panel.fastPixels || s >= panel.slowPixels)
          d.mask[i] = 0;
}

void DefaultsChooser::choosePointSpread() {
  Detector &d = experiment.detector;
  if (said(&O::pointSpread) == PointSpread::None)
    return;
  d.psfFwhm = said(&O::psfFwhm).value_or(units::fromMicrometres(46)); // as noisify has it
  const double width = d.psfFwhm / d.pixelSize;
  d.psfRadius = said(&O::psfRadius).value_or(0);
  if (!said(&O::psfRadius))
    d.psfRadius = defaultPointSpreadRadius(said(&O::pointSpread), width);
  if (!semantics.noisify)
    experiment.variant.pointSpread = said(&O::pointSpread);
}

void DefaultsChooser::chooseCountingLoss() {
  if (!said(&O::deadTime))
    return;
  if (!said(&O::exposure))
    throw std::invalid_argument("-dead_time needs the counts per second of a pixel; give the time "
                                "in which they arrive with -exposure");
  experiment.variant.countingLoss = true;
  experiment.beam.exposure = *said(&O::exposure);
  experiment.detector.deadTime = *said(&O::deadTime);
}

void DefaultsChooser::chooseGain() {
  Detector &d = experiment.detector;
  if (said(&O::gain)) {
    experiment.variant.gain = !semantics.noisify;
    d.gain = *said(&O::gain);
  }
  if (!inputs.gainMap)
    return;
  const GainMapImage &map = *inputs.gainMap;
  const std::int64_t rows = d.slowPixels * experiment.panelCount();
  if (map.fastPixels != d.fastPixels || map.slowPixels != rows ||
      tryProduct({map.slowPixels, map.fastPixels}) != std::int64_t(map.gains.size()))
    throw std::invalid_argument("-gain_map: the map has " + std::to_string(map.fastPixels) + " x " +
                                std::to_string(map.slowPixels) + " pixels but the detector has " +
                                std::to_string(d.fastPixels) + " x " + std::to_string(rows) +
                                "; use a map of the detector's size");
  const auto bad = std::ranges::find_if(
      map.gains, [](double gain) { return !(gain >= 0) || !std::isfinite(gain); });
  if (bad != map.gains.end()) {
    const std::int64_t at = bad - map.gains.begin();
    throw std::invalid_argument("-gain_map: the gain of pixel fast " +
                                std::to_string(at % d.fastPixels) + ", slow " +
                                std::to_string(at / d.fastPixels) + " is " + text(*bad) +
                                "; gains are finite and not negative");
  }
  experiment.variant.gainMap = !semantics.noisify;
  d.gainMap.values = map.gains;
}

void DefaultsChooser::checkSampleCount() {
  const Detector &d = experiment.detector;
  // As a double, since the product is what may be too large.
  double samples = double(experiment.sourceCount()) * double(experiment.mosaicDomains()) *
                   double(experiment.goniometer.phiSteps) * double(d.oversample) *
                   double(d.oversample);
  if (samples * double(d.layers) > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument(std::to_string(experiment.sourceCount()) + " sources, " +
                                std::to_string(experiment.mosaicDomains()) + " mosaic domains, " +
                                std::to_string(experiment.goniometer.phiSteps) +
                                " phi steps and -oversample " + std::to_string(d.oversample) +
                                " make more than 2147483647 samples per pixel; reduce one of them");
  const double subPixels = double(d.oversample) * double(d.oversample);
  report.solidAngleDivisor =
      semantics.solidAngleSum == Rule::C ? samples : subPixels * double(d.layers);
  if (samples != subPixels * double(d.layers))
    note(&Semantics::solidAngleSum);
}

CompleteExperiment DefaultsChooser::run() {
  readHeaders();
  chooseSeeds();
  chooseAveraging();
  chooseFrame();
  chooseDetector();
  chooseBeam();
  chooseGoniometer();
  chooseCrystal();
  chooseSources();
  chooseAbsorption();
  chooseAverage();
  chooseFactorsByEnergy();
  replacePolarizationAxis();
  chooseRegion();
  chooseMask();
  choosePointSpread();
  chooseCountingLoss();
  chooseGain();
  chooseBackground();
  checkSampleCount();
  experiment.variant.imageType = said(&O::imageType);
  experiment.dmin = said(&O::dmin);
  experiment.variant.dmin = experiment.dmin > 0;
  complete.neverRead = said.neverRead();
  return std::move(complete);
}

CompleteExperiment chooseDefaults(const Options &options, const Inputs &inputs,
                                  const Semantics &semantics, Caller caller) {
  const std::vector<std::string> slips = doubtfulUnits(options, caller);
  try {
    checkQuantities(options, {}, caller);
    CompleteExperiment complete = DefaultsChooser(options, inputs, semantics).run();
    complete.warnings.insert(complete.warnings.begin(), slips.begin(), slips.end());
    return complete;
  } catch (const std::invalid_argument &error) {
    // A value in another unit may be why something else is too large.
    if (slips.empty())
      throw;
    throw std::invalid_argument(std::string(error.what()) + "; " + slips.front());
  }
}

} // namespace nanobragg
