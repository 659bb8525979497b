#include "tools/nb-compile/Specialize.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Program/BoundParameters.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/UsageError.h"
#include "nanobragg/Simulator.h"
#include "runtime/kernels/KernelFile.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace nanobragg {
namespace {

/// The best of several runs: what the machine does besides only ever adds.
template <typename Pixel>
double secondsOf(const Experiment &experiment, std::span<const char> file) {
  SimulatorOptions options;
  options.kernel = loadKernel(file);
  options.precision = precisionFromString(options.kernel->precision).value();
  options.threads = 1;
  Simulator simulator(experiment, options);
  std::vector<Pixel> image(simulator.pixels());
  double best = 0;
  for (int i = 0; i != 5; ++i) {
    const RunResult result = simulator.render(std::span(image));
    const double time = result.prepareSeconds + result.runSeconds;
    best = i ? std::min(best, time) : time;
  }
  return best;
}

double seconds(const Experiment &experiment, std::span<const char> file) {
  return experiment.variant.imageType == ImageType::F32 ? secondsOf<float>(experiment, file)
                                                        : secondsOf<double>(experiment, file);
}

/// With those members of a group that the kernel has in its place, such as the three numbers of
/// cells in that of ncells.
std::vector<std::string> withoutGroups(const std::vector<std::string> &names,
                                       const ProgramVariant &variant) {
  std::vector<std::string> all;
  for (const std::string &name : names) {
    const ParameterGroup *group = findGroup(name);
    if (!group)
      all.push_back(name);
    else
      for (const std::string_view member : group->members)
        if (findParameter(member)->isUsedBy(variant))
          all.emplace_back(member);
  }
  return all;
}

std::int64_t wholeNumber(const std::string &name, double value) {
  if (value != std::floor(value) || value < 1 || value > 1e9)
    throw UsageError("--specialize: " + name + " is " + std::to_string(value) +
                     " here; only a whole number can be compiled in");
  return std::int64_t(value);
}

} // namespace

std::vector<FixedCount> fixedCounts(const Experiment &experiment,
                                    const std::vector<std::string> &names) {
  std::vector<FixedCount> counts;
  for (const std::string &name : withoutGroups(names, experiment.variant)) {
    const Parameter *parameter = findParameter(name);
    if (!parameter || !(parameter->mayBeFixed || parameter->kind() == NB_PARAMETER_INDEX) ||
        !parameter->isUsedBy(experiment.variant))
      throw UsageError("--specialize: '" + name + "' is not a count of this experiment's kernel");
    const nb_kernel_parameter wanted = {parameter->name, parameter->kind(), parameter->unit};
    nb_kernel_descriptor kernel = {};
    kernel.name = "fixed";
    kernel.num_parameters = 1;
    kernel.parameters = &wanted;
    const BoundParameters bound(kernel, experiment);
    const void *value = bound.arguments()[0];
    counts.push_back({name, parameter->kind() == NB_PARAMETER_INDEX
                                ? *static_cast<const std::int64_t *>(value)
                                : wholeNumber(name, *static_cast<const double *>(value))});
  }
  return counts;
}

std::string describeGain(const Experiment &experiment, std::span<const char> general,
                         std::span<const char> specialized) {
  const double before = seconds(experiment, general), after = seconds(experiment, specialized);
  return formatted("specialized: this experiment takes one thread %.4g s instead of %.4g s (%+.1f "
                   "%%), the file has %zu bytes instead of %zu\n",
                   after, before, (after / before - 1) * 100, specialized.size(), general.size());
}

} // namespace nanobragg
