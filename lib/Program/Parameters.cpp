#include "lib/Program/Parameters.h"

#include "lib/Program/ParameterRows.h"
#include "nanobragg/DerivativeNames.h"

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
  for (const Parameter &parameter : allParameters())
    if (name == parameter.name)
      return &parameter;
  return nullptr;
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
