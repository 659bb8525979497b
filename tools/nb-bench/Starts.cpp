#include "tools/nb-bench/Starts.h"

#include "nanobragg/Simulator.h"
#include "runtime/processor/Stopwatch.h"
#include "tools/nb-bench/ChildProcess.h"
#include "tools/nb-bench/Measurement.h"
#include "tools/shared/RunSetup.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>
#include <vector>

namespace nanobragg {
namespace {

namespace fs = std::filesystem;

/// One run of nb-sim, as its --timing reports it.
Start startProcess(std::vector<std::string> words, int threads, const fs::path &folder) {
  words.insert(words.end(), {"--threads=" + std::to_string(threads), "--timing=timing.json",
                             "-floatfile", "image.bin", "-nonoise", "-nopgm", "--quiet"});
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "nb-sim";
  runChild(program, words, folder, {{"NB_CACHE_DIR", (folder / "kernels").string()}});
  std::ifstream file(folder / "timing.json");
  const auto timing = nlohmann::json::parse(file);
  const auto seconds = [&](const char *name) { return timing.at(name).get<double>(); };
  const double load = seconds("compiler_load_seconds"), compile = seconds("compile_seconds");
  return {seconds("before_main_cpu_seconds"), seconds("startup_seconds"),
          seconds("cache_seconds") + load + compile, compile, seconds("run_seconds")};
}

/// A simulator of this process; the provider has its kernel.
Start startSimulator(const std::vector<std::string> &words, int threads, KernelProvider &kernels) {
  Start start{};
  const Stopwatch sinceStart;
  const RunSetup setup(parseCommandLine(words));
  const double beforeKernel = sinceStart.seconds();
  SimulatorOptions options = setup.simulatorOptions(kernels);
  options.threads = threads;
  Simulator simulator(setup.complete.experiment, options);
  simulator.prepare(PixelType::F32);
  start.kernel = sinceStart.seconds() - beforeKernel;
  const auto image = std::make_unique_for_overwrite<float[]>(simulator.pixels());
  const double beforeRun = sinceStart.seconds();
  const RunResult result = simulator.render(std::span(image.get(), simulator.pixels()));
  start.setup = beforeRun + result.firstTileSeconds;
  start.run = result.runSeconds;
  return start;
}

Start medianOf(const std::vector<Start> &starts) {
  const auto field = [&](double Start::*member) {
    std::vector<double> values;
    for (const Start &start : starts)
      values.push_back(start.*member);
    return median(values);
  };
  return {field(&Start::beforeMain), field(&Start::setup), field(&Start::kernel),
          field(&Start::compile), field(&Start::run)};
}

} // namespace

Starts measureStarts(const Workload &workload, const BenchInputs &inputs, int threads,
                     const std::string &precision, int repeat, const fs::path &folder) {
  std::vector<std::string> words = workload.words(inputs);
  words.push_back("--precision=" + precision);
  fs::create_directory(folder);
  Starts starts{workload.pixels, threads, {}, {}, {}};
  starts.cold = startProcess(words, threads, folder);
  std::vector<Start> again, another;
  KernelProvider kernels;
  startSimulator(words, threads, kernels);
  for (int i = 0; i != repeat; ++i) {
    again.push_back(startSimulator(words, threads, kernels));
    another.push_back(startProcess(words, threads, folder));
  }
  starts.again = medianOf(again);
  starts.another = medianOf(another);
  return starts;
}

} // namespace nanobragg
