#include "lib/Choose/DefaultsChooser.h"

#include "lib/Choose/Steps.h"
#include "lib/Experiment/FactorsByEnergy.h"
#include "lib/Experiment/Units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace nanobragg {

void DefaultsChooser::chooseSensor() {
  Detector &d = experiment.detector;
  ProgramVariant &variant = experiment.variant;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double stated = said(&O::thickness).value_or(0);
  // Without a thickness the depth is printed only.
  const auto depth = stated > 0 ? said(&O::attenuationDepth) : said.unread().attenuationDepth;
  const bool isMaterial = !inputs.sensorAbsorption.empty();
  if (isMaterial && said(&O::attenuationDepth))
    throw std::invalid_argument("--sensor-material and -detector_absorb both set the absorption of "
                                "the sensor; leave one of them out");
  if (isMaterial && stated == 0)
    throw std::invalid_argument(
        "--sensor-material needs the thickness of the sensor; give -detector_thick");
  const bool transparent = depth && (*depth == 0 || std::isinf(*depth));
  const double thicknessC = said(&O::absorptionOffAfterThickness) ? 0 : stated;
  const double thicknessRight = transparent ? 0 : stated;
  // The last case: nothing is absorbed of a sensor without a thickness.
  const bool likeC = semantics.noAbsorption == Rule::C;
  const double thickness = likeC ? thicknessC : thicknessRight;
  const bool oversampled =
      thickness > 0 || likeC ? said(&O::oversampleThick) : said.unread().oversampleThick;
  if (thicknessC != thicknessRight || (oversampled && thicknessRight == 0))
    note(&Semantics::noAbsorption);

  d.attenuationDepth = infinity;
  if (transparent) {
    report.sensorMu = 0;
  } else if (depth) {
    d.attenuationDepth = *depth;
    report.sensorMu = 1.0 / d.attenuationDepth;
  } else if (thickness > 0) {
    d.attenuationDepth = thickness;
    report.sensorMu = 1.0 / thickness;
    if (!isMaterial) // chooseAbsorption() does the rest
      warn(
          "-detector_thick without -detector_abs: the attenuation depth is set to the thickness, " +
          text(thickness * 1e6) + " um");
  }

  if (thickness > 0) {
    Layers layers = chooseLayers(said(&O::thickSteps), semantics.layerSpacing);
    if (layers != chooseLayers(said(&O::thickSteps), Rule::C))
      note(&Semantics::layerSpacing);
    d.sensorThickness = thickness;
    d.layers = layers.count;
    d.layerFraction = layers.fraction;
    variant.capture = oversampled                             ? Capture::Each
                      : semantics.layerCapture == Rule::Right ? Capture::Sum
                                                              : Capture::Last;
    if (!oversampled)
      note(&Semantics::layerCapture);
  } else if (oversampled) {
    variant.capture = likeC ? Capture::Each : Capture::None;
    if (likeC)
      warn("-oversample_thick without a thickness: nothing is absorbed, the image will be black");
  }
  report.sensorThickness = d.sensorThickness;
  for (std::int64_t i = 0; i < d.layers; ++i)
    report.layerDepths.push_back(d.sensorThickness * d.layerFraction * double(i));
}

/// Chooses the absorption of the sensor's material at the energies of the light.
void DefaultsChooser::chooseAbsorption() {
  const std::vector<std::array<double, 2>> &table = inputs.sensorAbsorption;
  if (table.empty())
    return;
  Detector &d = experiment.detector;
  const std::vector<double> energies = sourceEnergies(experiment);
  const auto [low, high] = std::ranges::minmax(energies);
  const auto reaches = [](double energy, const std::array<double, 2> &row) {
    return energy < row[0];
  };
  auto above = std::upper_bound(table.begin(), table.end(), high, reaches);
  auto from = std::upper_bound(table.begin(), table.end(), low, reaches);
  if (from == table.begin() || above == table.end())
    throw std::invalid_argument(
        "--sensor-material: the absorption is known from " + text(table.front()[0]) + " to " +
        text(table.back()[0]) + " eV, and the beam has " +
        text(from == table.begin() ? low : high) + " eV; give -detector_absorb");
  --from;
  // In the middle: for one energy, for -compat c and for what is printed and written.
  const double energy = (low + high) / 2;
  const auto next = std::upper_bound(table.begin(), table.end(), energy, reaches);
  report.sensorMu = between(*std::prev(next), *next, energy);
  d.attenuationDepth = 1 / report.sensorMu;
  if (low == high || experiment.variant.capture == Capture::Last)
    return;
  experiment.variant.absorptionByEnergy = true;
  for (auto row = from; row <= above; ++row) {
    d.absorptionNode.values.push_back((*row)[0] / units::wavelengthFromEnergy(1));
    d.absorption.push_back((*row)[1]);
  }
}

} // namespace nanobragg
