#include "lib/Program/Specialize.h"

#include "lib/Program/Parameters.h"

#include <algorithm>
#include <cmath>

namespace nanobragg {
namespace {

/// The polynomials of docs/rationale/whole-grating.md are off by 0.29 N^2 + N roundings of f64 for
/// each of three axes, which are squared: below 1e-12 up to here.
constexpr double mostCells = 64;

bool isWhole(double cells) {
  return cells >= 1 && cells <= mostCells && cells == std::floor(cells);
}

} // namespace

std::vector<FixedCount> usualCounts(const Experiment &experiment) {
  std::vector<FixedCount> fixed;
  if (experiment.detector.oversample == 1)
    fixed.push_back({"oversample", 1});
  if (experiment.variant.background && experiment.background.oversample == 1)
    fixed.push_back({"background_oversample", 1});
  return fixed;
}

std::vector<FixedCount> specializedCounts(const Experiment &experiment, Precision precision,
                                          const Derivative &derivative) {
  std::vector<FixedCount> fixed = usualCounts(experiment);
  const ProgramVariant &variant = experiment.variant;
  // In single precision neither gains anything.
  if (variant.averaging != Averaging::Sampled || precision != Precision::F64)
    return fixed;
  const auto add = [&](const Parameter &parameter, std::int64_t value) {
    if (std::ranges::find(fixed, parameter.name, &FixedCount::name) == fixed.end())
      fixed.push_back({parameter.name, value});
  };
  const bool byCells = std::ranges::any_of(derivative.parameters, [](const std::string &name) {
    return findParameter(name)->mayBeFixed;
  });
  const bool knowsCells = variant.shape == CrystalShape::Square && !byCells;
  for (const Parameter *parameter : parametersOf(variant)) {
    const ParameterPlace &place = parameter->place;
    if (parameter->samples && place.index(experiment) == 1)
      add(*parameter, 1);
    if (parameter->mayBeFixed && knowsCells && isWhole(place.numbers(experiment)[0]))
      add(*parameter, std::int64_t(place.numbers(experiment)[0]));
  }
  return fixed;
}

std::string shapeOf(const Experiment &experiment) {
  std::string text;
  for (const Parameter *parameter : parametersOf(experiment.variant)) {
    const ParameterPlace &place = parameter->place;
    if (parameter->samples ||
        std::ranges::find(imageCounts, std::string_view(parameter->name)) != imageCounts.end())
      text += " " + std::string(parameter->name) + "=" + std::to_string(place.index(experiment));
    else if (parameter->mayBeFixed)
      text += " " + std::string(parameter->name) + "=" +
              std::to_string(std::int64_t(place.numbers(experiment)[0]));
  }
  return text.empty() ? text : text.substr(1);
}

} // namespace nanobragg
