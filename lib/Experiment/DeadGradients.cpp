#include "lib/Experiment/DeadGradients.h"

#include <algorithm>
#include <string_view>

namespace nanobragg {
namespace {

bool allZero(const std::vector<double> &values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

bool noReflections(const Experiment &e) {
  return e.crystal.defaultF == 0 && (!e.crystal.grid || allZero(e.crystal.grid->values));
}

/// Of what moves the reflections: the image of a tophat changes only where a spot's edge is.
bool movesReflections(std::string_view name) {
  for (std::string_view prefix :
       {"cell_", "reciprocal_matrix", "misset_", "mosaic_spread", "spindle_axis", "phi0", "osc",
        "wavelength", "dispersion", "source_wavelength"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

struct Condition {
  bool (*concerns)(std::string_view name);
  bool (*holds)(const Experiment &);
  const char *why;
};

constexpr bool is(std::string_view a, std::string_view b) { return a == b; }

constexpr Condition conditions[] = {
    // The background needs no reflections, and neither does what scales it.
    {[](std::string_view n) {
       return !is(n, "default_F") && !is(n, "F") && !is(n, "water_size") && !is(n, "fluence");
     },
     [](const Experiment &e) { return noReflections(e) && e.variant.water == Water::None; },
     "all structure factors are zero, and so is the image"},
    {[](std::string_view n) { return is(n, "default_F") || is(n, "F") || is(n, "fluence"); },
     [](const Experiment &e) { return noReflections(e) && e.variant.water == Water::None; },
     "all structure factors are zero, and the image goes with their square"},
    {movesReflections,
     [](const Experiment &e) {
       return e.variant.shape == CrystalShape::Tophat &&
              e.variant.structureFactors != StructureFactors::Tricubic;
     },
     "a tophat is flat but for its edges, whose movement counts as zero"},
    {[](std::string_view n) { return is(n, "mosaic_spread"); },
     [](const Experiment &e) { return allZero(e.crystal.mosaicUnitAngle); },
     "the only mosaic domain is not rotated"},
    {[](std::string_view n) { return is(n, "osc"); },
     [](const Experiment &e) {
       return e.goniometer.phiSteps == 1 || e.goniometer.phiStepFraction == 0;
     },
     "there is one phi step, at phi0"},
    {[](std::string_view n) { return is(n, "dispersion"); },
     [](const Experiment &e) { return allZero(e.beam.unitDispersion); },
     "all sources have the central wavelength"},
    {[](std::string_view n) { return is(n, "hdiv_range"); },
     [](const Experiment &e) { return allZero(e.beam.unitHdiv); },
     "no source deviates horizontally"},
    {[](std::string_view n) { return is(n, "vdiv_range"); },
     [](const Experiment &e) { return allZero(e.beam.unitVdiv); }, "no source deviates vertically"},
    {[](std::string_view n) { return is(n, "source_weight"); },
     [](const Experiment &e) { return e.sourceCount() == 1 && e.variant.water != Water::C; },
     "weights are relative and there is one source"},
    {[](std::string_view n) { return is(n, "water_size"); },
     [](const Experiment &e) { return e.waterSize == 0; },
     "the background goes with the cube of the size, which is zero"},
};

} // namespace

std::vector<DeadGradient> deadGradients(const Experiment &experiment,
                                        std::span<const std::string> parameters) {
  std::vector<DeadGradient> dead;
  for (const std::string &name : parameters)
    for (const Condition &condition : conditions)
      if (condition.concerns(name) && condition.holds(experiment)) {
        dead.push_back({name, condition.why});
        break;
      }
  return dead;
}

} // namespace nanobragg
