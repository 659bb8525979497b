#include "tools/nb-sim/Actions.h"

#include "lib/Images/NpyFile.h"
#include "lib/Program/DeadGradients.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Quantities/Printable.h"
#include "lib/Quantities/UsageError.h"
#include "nanobragg/Simulator.h"
#include "tools/nb-sim/GradientReport.h"
#include "tools/nb-sim/NotFinite.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace nanobragg {
namespace {

using Json = nlohmann::ordered_json;

class DerivativeRun {
public:
  DerivativeRun(const RunSetup &setup, KernelProvider &kernels, std::FILE *out)
      : setup(setup), tool(setup.line.tool), kernels(kernels), out(out),
        simulator(setup.complete.experiment, setup.simulatorOptions(kernels)) {}

  void run() {
    if (tool.jacobian && !tool.outDirectory)
      throw UsageError("--jacobian writes images; name their folder with --out=DIR");
    if (tool.gradient)
      printGradient();
    if (tool.jacobian)
      writeJacobian();
    setup.tellFallbacks(simulator, "differentiates");
    if (tool.timingFile)
      writeTiming();
  }

private:
  std::vector<std::string> namesOf(const char *flag, const std::string &text) const {
    try {
      return resolveParameters(text, simulator.experiment().variant);
    } catch (const std::invalid_argument &error) {
      throw UsageError(std::string(flag) + ": " + error.what());
    }
  }

  /// Zeros that are to be expected, and those that turned up.
  template <typename Derivatives>
  std::vector<DeadGradient> deadAmong(const std::vector<std::string> &names,
                                      const Derivatives &derivatives) const {
    std::vector<DeadGradient> dead = deadGradients(simulator.experiment(), names);
    for (const auto &derivative : derivatives) {
      const auto &[parameter, unit, numbers] = derivative;
      const bool zero = std::ranges::all_of(numbers, [](double v) { return v == 0; });
      const std::string &name = parameter;
      const bool known =
          std::ranges::any_of(dead, [&](const DeadGradient &d) { return d.parameter == name; });
      if (zero && !known)
        dead.push_back({name, "it came out as zero"});
    }
    if (!tool.quiet)
      for (const DeadGradient &d : dead)
        std::fprintf(stderr, "WARNING: the derivative with respect to %s is zero: %s\n",
                     d.parameter.c_str(), d.why.c_str());
    return dead;
  }

  void printGradient() {
    const std::vector<std::string> names = namesOf("--grad", *tool.gradient);
    const Loss loss = readLoss(setup);
    const LossGradient result = simulator.gradient(*tool.gradient, loss);
    std::size_t notFinite = std::isfinite(result.loss) ? 0 : 1;
    for (const Gradient &g : result.gradient)
      notFinite += countNotFinite<double>(g.values);
    warnOfNotFinite(setup.line, "numbers of the loss and its gradient", notFinite);
    const std::vector<DeadGradient> dead = deadAmong(names, result.gradient);
    const std::int64_t pixels = loss.pixels(simulator.rendered());
    const GradientReport report = {simulator, kindOf(tool.loss), pixels, result, dead, loss};
    const std::string text = tool.instruments.json ? report.toJson() : report.toTable();
    std::fwrite(text.data(), 1, text.size(), out);
  }

  void writeJacobian() {
    const std::vector<std::string> names = namesOf("--jacobian", *tool.jacobian);
    for (const std::string &name : names)
      if (findParameter(name)->kind() != NB_PARAMETER_F64)
        throw UsageError(
            "--jacobian: '" + name +
            "' is not one number and has no one image; --grad differentiates with respect to it");
    std::filesystem::create_directories(*tool.outDirectory);
    const std::vector<DerivativeImage> images = simulator.jacobian(*tool.jacobian);
    deadAmong(names, images);
    const std::span<const double> pixels = simulator.value();
    write("image", pixels);
    std::size_t notFinite = countNotFinite(pixels);
    for (const DerivativeImage &image : images) {
      write("d_" + image.parameter, image.pixels);
      notFinite += countNotFinite<double>(image.pixels);
    }
    warnOfNotFinite(setup.line, "pixels of the image and its derivatives", notFinite);
  }

  void write(const std::string &name, std::span<const double> pixels) const {
    const std::string path = *tool.outDirectory + "/" + name + ".npy";
    io::OutputFile file(path);
    const auto shape = simulator.shape();
    const std::size_t sizes[] = {std::size_t(shape[0]), std::size_t(shape[1]),
                                 std::size_t(shape[2])};
    // One panel is an image of two dimensions, as NumPy's users expect, and a list has one.
    const std::size_t left = setup.line.files.pixels ? 2 : shape[0] == 1 ? 1 : 0;
    io::writeNpy(file, std::span(sizes).subspan(left), pixels);
    file.commit();
    if (!tool.instruments.json && !tool.quiet)
      std::fprintf(out, "wrote %s\n", printable(path).c_str());
  }

  void writeTiming() const {
    const SimulatorTiming &t = simulator.timing();
    const KernelCounters k = kernels.counters();
    Json all = {{"engine", nameOf(simulator.engine())},
                {"value_seconds", t.value},
                {"value_runs", t.values},
                {"derivative_seconds", t.derivative},
                {"derivative_runs", t.derivatives},
                {"cache_seconds", k.cacheSeconds},
                {"compiler_load_seconds", k.compilerLoadSeconds},
                {"compile_seconds", k.compileSeconds},
                {"kernel_hits", k.hits},
                {"kernel_loads", k.loads},
                {"kernel_compiles", k.compiles}};
    if (!t.device.empty()) {
      all["device_name"] = t.device;
      all["device_bytes"] = t.deviceBytes;
      all["uploaded_bytes"] = t.uploadedBytes;
      all["launches"] = t.launches;
    }
    io::OutputFile file(*tool.timingFile);
    file.write(all.dump(2) + "\n");
    file.commit();
  }

  const RunSetup &setup;
  const ToolOptions &tool;
  KernelProvider &kernels;
  std::FILE *out;
  Simulator simulator;
};

} // namespace

void printDerivatives(const RunSetup &setup, KernelProvider &kernels, std::FILE *out) {
  DerivativeRun(setup, kernels, out).run();
}

} // namespace nanobragg
