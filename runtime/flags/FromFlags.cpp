// Simulators of command lines.
#include "lib/Runs/ExperimentOf.h"
#include "nanobragg/Simulator.h"
#include "runtime/kernels/HklCache.h"

namespace nanobragg {
namespace {

/// Options of the first; those that have their defaults come from the second.
SimulatorOptions merged(SimulatorOptions options, const SimulatorOptions &flags) {
  const SimulatorOptions byDefault;
  const auto take = [&](auto SimulatorOptions::*option) {
    if (options.*option == byDefault.*option)
      options.*option = flags.*option;
  };
  take(&SimulatorOptions::engine);
  take(&SimulatorOptions::fallback);
  take(&SimulatorOptions::threads);
  take(&SimulatorOptions::precision);
  take(&SimulatorOptions::cull);
  take(&SimulatorOptions::specialize);
  take(&SimulatorOptions::device);
  take(&SimulatorOptions::kernelFile);
  take(&SimulatorOptions::pixels);
  take(&SimulatorOptions::dumpIR);
  if (!options.passes.any())
    options.passes = flags.passes;
  options.keptSchedule &= flags.keptSchedule;
  return options;
}

} // namespace

Simulator Simulator::fromFlags(const std::vector<std::string> &flags,
                               const SimulatorOptions &options) {
  const Experiment experiment = experimentOf(flags, HklCache::fromEnvironment().get());
  return Simulator(experiment, merged(options, simulatorOptionsOf(flags, experiment)));
}

} // namespace nanobragg
