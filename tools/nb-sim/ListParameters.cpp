#include "lib/Experiment/Formatted.h"
#include "tools/nb-sim/Actions.h"

#include "lib/Program/BoundParameters.h"
#include "lib/Program/ParameterGroups.h"

#include <algorithm>
#include <cinttypes>
#include <string>

namespace nanobragg {
namespace {

std::string numbers(const double *values, int count) {
  std::string text;
  for (int i = 0; i != count; ++i)
    text += formatted("%s%.9g", i ? " " : "", values[i]);
  return text;
}

std::string boxOf(const nb_hkl_grid &grid) {
  return formatted("h %" PRId64 "..%" PRId64 " k %" PRId64 "..%" PRId64 " l %" PRId64 "..%" PRId64,
                   grid.h_min, grid.h_max, grid.k_min, grid.k_max, grid.l_min, grid.l_max);
}

std::string valueOf(nb_parameter_kind kind, const void *address) {
  const auto *doubles = static_cast<const double *>(address);
  switch (kind) {
  case NB_PARAMETER_F64:
    return numbers(doubles, 1);
  case NB_PARAMETER_INDEX:
    return std::to_string(*static_cast<const std::int64_t *>(address));
  case NB_PARAMETER_VEC3:
    return numbers(doubles, 3);
  case NB_PARAMETER_MAT3:
    return numbers(doubles, 9);
  case NB_PARAMETER_HKL_GRID:
    return boxOf(*static_cast<const nb_hkl_grid *>(address));
  case NB_PARAMETER_TABLE_F64:
  case NB_PARAMETER_TABLE_VEC3:
  case NB_PARAMETER_MASK:
  case NB_PARAMETER_IMAGE:
    return "table";
  }
  return "";
}

/// The argument array of a kernel that takes all that this variant can take.
struct AllArguments {
  explicit AllArguments(const Experiment &experiment)
      : parameters(parametersOf(experiment.variant)), bound(describe(), experiment) {}

  const void *find(const Parameter &parameter) const {
    const auto found = std::find(parameters.begin(), parameters.end(), &parameter);
    return found == parameters.end() ? nullptr : bound.arguments()[found - parameters.begin()];
  }

private:
  nb_kernel_descriptor describe() {
    for (const Parameter *parameter : parameters)
      wanted.push_back({parameter->name, parameter->kind(), parameter->unit});
    nb_kernel_descriptor kernel = {};
    kernel.name = "list";
    kernel.num_parameters = std::uint32_t(wanted.size());
    kernel.parameters = wanted.data();
    return kernel;
  }

  std::vector<const Parameter *> parameters;
  std::vector<nb_kernel_parameter> wanted;
  BoundParameters bound;
};

/// "-" when the variant uses none of them.
std::string membersText(const ParameterGroup &group, const ProgramVariant &variant) {
  std::string text;
  for (std::string_view member : group.members)
    if (findParameter(member)->isUsedBy(variant))
      text += (text.empty() ? "" : ",") + std::string(member);
  return text.empty() ? "-" : text;
}

} // namespace

void listParameters(const Experiment &experiment, std::FILE *out) {
  const AllArguments arguments(experiment);
  std::fprintf(out, "%-20s %-9s %-36s %-4s %s\n", "name", "unit", "value", "grad", "meaning");
  for (const Parameter &parameter : allParameters()) {
    const void *address = arguments.find(parameter);
    const std::string value = address ? valueOf(parameter.kind(), address) : "-";
    std::fprintf(out, "%-20s %-9s %-36s %-4s %s\n", parameter.name, parameter.unit, value.c_str(),
                 parameter.differentiable() ? "yes" : "no", parameter.meaning);
  }
  std::fprintf(out, "\nGroups, for --grad and its like:\n%-20s %s\n", "name", "members used here");
  for (const ParameterGroup &group : parameterGroups())
    std::fprintf(out, "%-20s %s\n", group.name, membersText(group, experiment.variant).c_str());
}

} // namespace nanobragg
