#include "lib/Program/DeadGradients.h"

#include "lib/Program/Parameters.h"

#include <algorithm>

namespace nanobragg {
namespace {

bool allZero(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

bool isDark(const Experiment &e) {
  return e.crystal.defaultF == 0 && (!e.crystal.grid || allZero(e.crystal.grid->values)) &&
         (!e.crystal.sheets || allZero(e.crystal.sheets->values)) &&
         e.variant.water == Water::None && !e.variant.background;
}

} // namespace

const DeadCondition dead::noImage = {isDark, "all structure factors are zero, and so is the image"};

const DeadCondition dead::squareOfZero = {
    isDark, "all structure factors are zero, and the image is proportional to their square"};

const DeadCondition dead::factorsByEnergy = {
    [](const Experiment &e) { return e.crystal.sheets != nullptr; },
    "structure factors depend on the energy, and their values are in F_by_energy"};

const DeadCondition dead::flatSpots = {
    [](const Experiment &e) {
      return rowOf(e.variant.shape).profile == SpotProfile::Step && !e.variant.background &&
             !e.variant.diffuse && e.variant.structureFactors != StructureFactors::Tricubic;
    },
    "a tophat is flat except at its edges, whose movement is ignored"};

const DeadCondition dead::noRotatedDomain = {
    [](const Experiment &e) { return e.variant.isSampled() && allZero(e.crystal.mosaicUnitAngle); },
    "the only mosaic domain is not rotated"};

const DeadCondition dead::onePhiStep = {
    [](const Experiment &e) {
      return (e.goniometer.phiSteps == 1 || e.goniometer.phiStepFraction == 0) && !e.variant.sweep;
    },
    "there is one phi step, at phi0"};

const DeadCondition dead::oneWavelength = {
    [](const Experiment &e) { return allZero(e.beam.unitDispersion); },
    "all sources have the central wavelength"};

const DeadCondition dead::noHorizontalDivergence = {
    [](const Experiment &e) { return e.variant.isSampled() && allZero(e.beam.unitHdiv); },
    "no source deviates horizontally"};

const DeadCondition dead::noVerticalDivergence = {
    [](const Experiment &e) { return e.variant.isSampled() && allZero(e.beam.unitVdiv); },
    "no source deviates vertically"};

const DeadCondition dead::oneSource = {
    [](const Experiment &e) { return e.sourceCount() == 1 && e.variant.water != Water::C; },
    "weights are relative and there is one source"};

const DeadCondition dead::noWater = {
    [](const Experiment &e) { return e.waterSize == 0; },
    "the background is proportional to the cube of the size, which is zero"};

std::vector<DeadGradient> deadGradients(const Experiment &experiment,
                                        std::span<const std::string> parameters) {
  std::vector<DeadGradient> gradients;
  for (const std::string &name : parameters)
    for (const DeadCondition *condition : findParameter(name)->dead)
      if (condition && condition->holds(experiment)) {
        gradients.push_back({name, condition->why});
        break;
      }
  return gradients;
}

} // namespace nanobragg
