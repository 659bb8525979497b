#include "lib/CommandLine/ExperimentOf.h"
#include "lib/Experiment/Culling.h"
#include "lib/Experiment/KernelSpecification.h"
#include "lib/Experiment/PixelList.h"
#include "runtime/capi/FlagValues.h"
#include "runtime/capi/Status.h"
#include "runtime/kernels/HklCache.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/simulator/Placement.h"

#include <utility>

using namespace nanobragg;

namespace {

template <typename Work>
auto asBadKernel(Work work) {
  try {
    return work();
  } catch (const std::runtime_error &error) {
    throw BadKernel(error.what());
  }
}

std::unique_ptr<nb_simulator> simulatorFor(const ProgramVariant &variant,
                                           const SimulatorOptions &options) {
  if (!options.passes.precision.empty() && options.passes.precision != options.precision)
    throw UsageError("--schedule is for --precision=" + options.passes.precision +
                     ", and these flags ask for " + options.precision);
  requireKernelAlone(variant);
  KernelRequest request;
  request.variant = variant.toString();
  request.precision = options.precision;
  request.passes = options.passes;
  request.file = options.kernelFile;
  request.dumpIR = options.dumpIR;
  SimulatorOptions strict = options;
  strict.fallback = false; // nobody would hear of it
  Placement placement(strict);
  return std::make_unique<nb_simulator>(placement.place(std::move(request)), options.threads);
}

} // namespace

nb_status nb_simulator_load(const char *file, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    given(file, "the file's name");
    *simulator = new nb_simulator(asBadKernel([&] { return Program(openKernelFile(file)); }));
    return NB_OK;
  });
}

nb_status nb_simulator_link(const nb_kernel_descriptor *kernel, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    if (!kernel)
      throw std::invalid_argument("the kernel is NULL");
    const nb_kernel_descriptor *version = asBadKernel([&] { return &selectVersion(*kernel); });
    *simulator = new nb_simulator(Program(KernelHandle(KernelHandle(), version)));
    return NB_OK;
  });
}

nb_status nb_simulator_compile(const char *variant, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const auto parsed = ProgramVariant::fromString(given(variant, "the variant"));
    *simulator = simulatorFor(parsed, {.device = "cpu"}).release();
    return NB_OK;
  });
}

nb_status nb_simulator_compile_for(const char *variant, const char *device,
                                   nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const auto parsed = ProgramVariant::fromString(given(variant, "the variant"));
    *simulator = simulatorFor(parsed, {.device = given(device, "the device")}).release();
    return NB_OK;
  });
}

nb_status nb_simulator_from_flags(int count, const char *const *flags, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const std::vector<std::string> all = words(count, flags);
    Experiment experiment = experimentOf(all, HklCache::fromEnvironment().get());
    SimulatorOptions options = simulatorOptionsOf(all, experiment);
    if (const std::vector<PixelIndex> pixels = std::exchange(options.pixels, {}); !pixels.empty())
      listPixels(experiment, pixels);
    ProgramVariant variant = experiment.variant;
    if (!options.cull.empty()) // by default nothing is left out: crystals may become small
      variant.cull = cullFor(options.cull, experiment);
    auto created = simulatorFor(variant, options);
    setAll(created->values, created->kernel(), experiment);
    *simulator = created.release();
    return NB_OK;
  });
}

void nb_simulator_free(nb_simulator *simulator) { delete simulator; }

const nb_kernel_descriptor *nb_simulator_kernel(const nb_simulator *simulator) {
  return simulator ? &simulator->kernel() : nullptr;
}
