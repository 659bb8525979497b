#include "lib/Experiment/Formatted.h"
#include "tools/nb-sim/Actions.h"

#include "lib/Files/Module.h"
#include "lib/Parallel/ThreadTeam.h"
#include "lib/Quantities/Printable.h"
#include "lib/Target/GpuVendor.h"
#include "runtime/gpu/Device.h"
#include "runtime/processor/Stopwatch.h"
#include "tools/shared/Main.h"
#include "tools/shared/RunSetup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace nanobragg {
namespace {

void report(const std::string &name, const std::string &text) {
  std::printf("%-16s %s\n", name.c_str(), printable(text).c_str());
  std::fflush(stdout);
}

/// The text, or the reason why there is none.
template <typename Work>
bool tried(const std::string &name, Work work) {
  try {
    report(name, work());
    return true;
  } catch (const std::exception &error) {
    report(name, std::string("NO: ") + error.what());
    return false;
  }
}

/// A part that is opened when a file needs it.
void tellModule(const char *file, const char *symbol, const char *reads) {
  tried(reads, [&] {
    io::openModule(file, symbol, reads);
    return std::string(file);
  });
}

std::string cacheText() {
  const auto place = CachePlace::fromEnvironment();
  if (!place)
    return "off: each run compiles its kernels; NB_CACHE and NB_CACHE_DIR set it";
  std::string problem;
  const auto cache =
      KernelCache::fromEnvironment([&](const std::string &warning) { problem = warning; });
  const std::size_t kernels = cache ? cache->list().size() : 0;
  std::error_code ignored;
  const bool there = std::filesystem::exists(place->directory, ignored);
  if (problem.empty() && there && ::access(place->directory.c_str(), W_OK) != 0)
    problem = "it cannot be written";
  if (!problem.empty() || !cache)
    throw std::runtime_error(place->directory.string() + ": " +
                             (problem.empty() ? "no compiler to keep kernels of" : problem) +
                             "; kernels are compiled in every run");
  return place->directory.string() + ", " + std::to_string(kernels) + " kernels, at most " +
         std::to_string(place->mostBytes >> 20) + " MiB";
}

std::string processorText() {
  std::string cpu = CacheOptions::fromEnvironment().hostCpu; // lines of "host cpu: ..."
  cpu = cpu.substr(0, cpu.find('\n'));
  if (const std::size_t colon = cpu.find(": "); colon != cpu.npos)
    cpu.erase(0, colon + 2);
  return cpu + ", " + std::to_string(availableProcessors()) + " threads";
}

RunSetup smallExperiment() {
  return RunSetup(parseCommandLine({"-cell", "70",          "80",  "90",         "90", "90",
                                    "90",    "-default_F",  "100", "-N",         "5",  "-lambda",
                                    "1",     "-distance",   "100", "-detpixels", "64", "-pixel",
                                    "1",     "-oversample", "1",   "--quiet"}));
}

std::string seconds(const Stopwatch &watch) { return formatted("%.1f s", watch.seconds()); }

std::vector<double> imageOf(RunSetup &setup, KernelProvider &kernels, const DeviceChoice &device) {
  SimulatorOptions options = setup.simulatorOptions(kernels);
  options.device = device;
  Simulator simulator(setup.complete.experiment, options);
  std::vector<double> image(simulator.pixels());
  simulator.render(std::span<double>(image));
  return image;
}

/// Compiles a kernel, and renders with it and with the interpreter.
std::string testProcessor() {
  const Stopwatch watch;
  KernelProvider kernels; // without the cache
  RunSetup setup = smallExperiment();
  SimulatorOptions options = setup.simulatorOptions(kernels);
  options.device = DeviceChoice::Kind::Cpu;
  Simulator simulator(setup.complete.experiment, options);
  const EngineComparison comparison = simulator.compareEngines({});
  if (comparison.differ)
    throw std::runtime_error("the compiled kernel and the interpreter differ; report it with this "
                             "text: " +
                             comparison.report);
  return "passed: a kernel was compiled, and agrees with the interpreter (" + seconds(watch) + ")";
}

/// Renders with the GPU and with the processor.
std::string testGpu(const DeviceChoice &device) {
  const Stopwatch watch;
  KernelProvider kernels;
  RunSetup setup = smallExperiment();
  const std::vector<double> expected = imageOf(setup, kernels, DeviceChoice::Kind::Cpu);
  const std::vector<double> image = imageOf(setup, kernels, device);
  const double brightest = *std::ranges::max_element(expected);
  for (std::size_t i = 0; i != image.size(); ++i)
    if (!(std::fabs(image[i] - expected[i]) <= 1e-8 * expected[i] + 1e-10 * brightest))
      throw std::runtime_error("its image differs from that of the processor at pixel " +
                               std::to_string(i) + "; use --device=cpu, and report it");
  return "passed: its image is that of the processor (" + seconds(watch) + ")";
}

} // namespace

int doctor() {
  std::error_code ignored;
  report("nb-sim",
         NB_VERSION ", " + std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  report("processor", processorText());
  bool well = tried("compiler", [] {
    CompilerLibrary::open();
    return CompilerLibrary::file().string();
  });
  tried("kernel cache", cacheText);
  tellModule("libnb-gemmi.so", "nb_gemmi_module", "MTZ, CIF, PDB");
  tellModule("libnb-hdf5.so", "nb_hdf5_module", "HDF5 (NXmx)");
  tellModule("libnb-mpi.so", "nb_mpi_module", "MPI runs");
  std::vector<DeviceChoice> gpus;
  for (const GpuVendor &vendor : gpuVendors())
    tried("GPU " + std::string(vendor.device), [&] {
      const DeviceChoice choice(DeviceChoice::Kind::Gpu, 0, &vendor);
      const std::string text = gpu::openDevices(choice).front()->describe();
      gpus.push_back(choice);
      return text;
    });
  if (well)
    well = tried("self-test", testProcessor);
  for (const DeviceChoice &gpu : gpus)
    well = tried("self-test " + gpu.toString(), [&] { return testGpu(gpu); }) && well;
  return well ? Success : Failure;
}

} // namespace nanobragg
