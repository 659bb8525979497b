#include "lib/Experiment/PixelList.h"
#include "lib/Program/KernelSpecification.h"
#include "lib/Runs/ExperimentOf.h"
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

/// By default nothing is left out: crystals may become small.
SimulatorOptions forAnyNumbers(SimulatorOptions options) {
  options.anyNumbers = true;
  options.fallback = false; // there is no one to tell
  return options;
}

std::unique_ptr<nb_simulator> simulatorFor(const KernelRequest &request,
                                           const SimulatorOptions &options) {
  requireKernelAlone(request.variant);
  // For any numbers, it is the same whatever runs it.
  return std::make_unique<nb_simulator>(Placement(options).place([&](Runner) { return request; }),
                                        options.threads);
}

std::unique_ptr<nb_simulator> simulatorOfVariant(const char *variant, const char *device) {
  const SimulatorOptions options = forAnyNumbers({.device = device});
  const auto what = KernelSpecification::fromString(given(variant, "the variant"));
  if (!what.variant || what.derivative != Derivative() || !what.fixed.empty())
    throw std::invalid_argument("'" + std::string(variant) +
                                "' is not a variant of an image's program");
  KernelRequest request = requestFor(*what.variant, options);
  request.cull = what.cull;
  return simulatorFor(request, options);
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
    *simulator = simulatorOfVariant(variant, "cpu").release();
    return NB_OK;
  });
}

nb_status nb_simulator_compile_for(const char *variant, const char *device,
                                   nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    *simulator = simulatorOfVariant(variant, given(device, "the device")).release();
    return NB_OK;
  });
}

nb_status nb_simulator_from_flags(int count, const char *const *flags, nb_simulator **simulator) {
  return guarded([&] {
    given(simulator, "the place for the simulator");
    const std::vector<std::string> all = words(count, flags);
    std::string warnings;
    Experiment experiment = experimentOf(all, HklCache::fromEnvironment().get(), &warnings);
    SimulatorOptions options = forAnyNumbers(simulatorOptionsOf(all, experiment));
    if (const std::vector<PixelIndex> pixels = std::exchange(options.pixels, {}); !pixels.empty())
      listPixels(experiment, pixels);
    auto created = simulatorFor(decide(experiment, options).request, options);
    setAll(created->values, created->kernel(), experiment);
    created->flagWarnings = std::move(warnings);
    *simulator = created.release();
    return NB_OK;
  });
}

void nb_simulator_free(nb_simulator *simulator) { delete simulator; }

const char *nb_simulator_warnings(const nb_simulator *simulator) {
  if (!simulator)
    return "";
  std::lock_guard lock(simulator->mutex);
  simulator->warningsText = simulator->flagWarnings + simulator->values.warnings();
  return simulator->warningsText.c_str();
}

const nb_kernel_descriptor *nb_simulator_kernel(const nb_simulator *simulator) {
  return simulator ? &simulator->kernel() : nullptr;
}
