#include "lib/Program/Parameters.h"

#include "lib/Program/ParameterRows.h"
#include "nanobragg/DerivativeNames.h"

#include <unordered_map>

namespace nanobragg {

std::span<const Parameter> allParameters() {
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> rows;
    for (const std::span<const Parameter> subject :
         {crystalParameters(), goniometerParameters(), beamParameters(), detectorParameters(),
          sampleParameters(), averageParameters()})
      rows.insert(rows.end(), subject.begin(), subject.end());
    return rows;
  }();
  return all;
}

std::vector<const Parameter *> parametersOf(const ProgramVariant &variant) {
  std::vector<const Parameter *> used;
  for (const Parameter &parameter : allParameters())
    if (parameter.isUsedBy(variant))
      used.push_back(&parameter);
  return used;
}

const Parameter *findParameter(std::string_view name) {
  static const auto byName = [] {
    std::unordered_map<std::string_view, const Parameter *> all;
    for (const Parameter &parameter : allParameters())
      all.emplace(parameter.name, &parameter);
    return all;
  }();
  const auto found = byName.find(name);
  return found == byName.end() ? nullptr : found->second;
}

const Parameter *parameterBehind(std::string_view name) {
  const auto derivative = parseDerivativeName(name);
  return findParameter(derivative ? derivative->of : name);
}

double samplesPerPixel(const Experiment &experiment) {
  double samples = 1;
  for (const Parameter &parameter : allParameters())
    for (int power = 0; power != parameter.samples; ++power)
      samples *= double(parameter.place.index(experiment));
  return samples;
}

} // namespace nanobragg
