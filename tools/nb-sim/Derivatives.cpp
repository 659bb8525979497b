#include "tools/nb-sim/Derivatives.h"

#include "lib/Experiment/DeadGradients.h"
#include "tools/nb-sim/LossFiles.h"
#include "tools/nb-sim/NotFinite.h"
#include "lib/IO/NpyFile.h"
#include "lib/Experiment/ParameterElements.h"
#include "lib/Experiment/ParameterGroups.h"
#include "lib/CommandLine/UsageError.h"
#include "nanobragg/Simulator.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace nanobragg {
namespace {

using Json = nlohmann::ordered_json;

const char *nameOf(Engine engine) { return engine == Engine::Fused ? "fused" : "interpreter"; }

class DerivativeRun {
public:
  DerivativeRun(const RunSetup &setup, KernelProvider &kernels, std::FILE *out)
      : setup(setup), tool(setup.line.tool), kernels(kernels), out(out),
        simulator(setup.complete.experiment, options()) {}

  void run() {
    refuse();
    if (tool.gradient)
      printGradient();
    if (tool.jacobian)
      writeJacobian();
    if (tool.timingFile)
      writeTiming();
  }

private:
  SimulatorOptions options() const {
    SimulatorOptions o;
    if (tool.engine == Engine::Interpreter)
      o.engine = tool.engine;
    o.fallback = !tool.noFallback;
    o.threads = requestedThreads(tool);
    o.precision = tool.precision;
    o.dumpIR = tool.dumpIr.value_or("");
    o.device = setup.device().toString();
    o.kernels = &kernels;
    return o;
  }

  void refuse() const {
    if (tool.jacobian && !tool.outDirectory)
      throw UsageError("--jacobian writes images; name their folder with --out=DIR");
  }

  std::vector<std::string> namesOf(const char *flag, const std::string &text) const {
    try {
      return resolveParameters(text, simulator.experiment().variant);
    } catch (const std::invalid_argument &error) {
      throw UsageError(std::string(flag) + ": " + error.what());
    }
  }

  void warnOfFallback() const {
    if (simulator.deviceFallbackReason() && !tool.quiet)
      std::fprintf(stderr,
                   "WARNING: the GPU cannot be used (%s); the processor differentiates instead; "
                   "--device=cuda makes this an error\n",
                   simulator.deviceFallbackReason()->c_str());
    if (simulator.fallbackReason() && !tool.quiet)
      std::fprintf(stderr,
                   "WARNING: the kernel cannot be compiled (%s); the interpreter differentiates "
                   "instead, more slowly; --no-fallback makes this an error\n",
                   simulator.fallbackReason()->c_str());
  }

  /// Zeros that are to be expected, and those that turned up.
  std::vector<DeadGradient> deadAmong(const std::vector<std::string> &names,
                                      const std::vector<Gradient> &gradient) const {
    std::vector<DeadGradient> dead = deadGradients(simulator.experiment(), names);
    for (const Gradient &g : gradient) {
      const bool zero =
          std::all_of(g.values.begin(), g.values.end(), [](double v) { return v == 0; });
      const bool known = std::any_of(dead.begin(), dead.end(), [&](const DeadGradient &d) {
        return d.parameter == g.parameter;
      });
      if (zero && !known)
        dead.push_back({g.parameter, "it came out as zero"});
    }
    if (!tool.quiet)
      for (const DeadGradient &d : dead)
        std::fprintf(stderr, "WARNING: the derivative by %s is zero: %s\n", d.parameter.c_str(),
                     d.why.c_str());
    return dead;
  }

  void printGradient() {
    const std::vector<std::string> names = namesOf("--grad", *tool.gradient);
    const Loss loss = readLoss(tool.loss, simulator.shape());
    const LossGradient result = simulator.gradient(*tool.gradient, loss);
    warnOfFallback();
    std::size_t notFinite = std::isfinite(result.loss) ? 0 : 1;
    for (const Gradient &g : result.gradient)
      notFinite += countNotFinite<double>(g.values);
    warnOfNotFinite(setup.line, "numbers of the loss and its gradient", notFinite);
    const std::vector<DeadGradient> dead = deadAmong(names, result.gradient);
    const std::int64_t pixels = loss.pixels(simulator.rendered());
    const std::string text = tool.json ? json(result, dead, pixels) : table(result, pixels);
    std::fwrite(text.data(), 1, text.size(), out);
  }

  std::string kindOfLoss() const { return tool.loss.data ? "chi2" : "sum"; }

  std::string json(const LossGradient &result, const std::vector<DeadGradient> &dead,
                   std::int64_t pixels) const {
    Json all = {{"engine", nameOf(simulator.engine())},
                {"loss_kind", kindOfLoss()},
                {"pixels", pixels},
                {"loss", result.loss}};
    for (const Gradient &g : result.gradient) {
      const std::vector<double> value = simulator.get(g.parameter);
      Json entry = {{"parameter", g.parameter}, {"unit", g.unit}};
      if (findParameter(g.parameter)->kind() == NB_PARAMETER_F64) {
        entry["value"] = value[0];
        entry["gradient"] = g.values[0];
      } else {
        entry["elements"] = elementNames(g);
        entry["value"] = value;
        entry["gradient"] = g.values;
      }
      all["gradient"].push_back(std::move(entry));
    }
    all["dead"] = Json::array();
    for (const DeadGradient &d : dead)
      all["dead"].push_back({{"parameter", d.parameter}, {"why", d.why}});
    return all.dump(2) + "\n";
  }

  std::vector<std::string> elementNames(const Gradient &g) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i != g.values.size(); ++i)
      names.push_back(elementName(simulator.experiment(), *findParameter(g.parameter), i));
    return names;
  }

  std::string table(const LossGradient &result, std::int64_t pixels) const {
    char line[256];
    std::snprintf(line, sizeof line, "loss (%s of %lld pixels) = %.17g\n", kindOfLoss().c_str(),
                  static_cast<long long>(pixels), result.loss);
    std::string text = line;
    std::snprintf(line, sizeof line, "%-28s %-9s %24s %24s\n", "parameter", "unit", "value",
                  "gradient per unit");
    text += line;
    for (const Gradient &g : result.gradient) {
      const std::vector<double> value = simulator.get(g.parameter);
      const std::vector<std::string> names = elementNames(g);
      for (std::size_t i = 0; i != g.values.size(); ++i) {
        std::snprintf(line, sizeof line, "%-28s %-9s %24.17g %24.16e\n", names[i].c_str(),
                      g.unit.c_str(), value[i], g.values[i]);
        text += line;
      }
    }
    return text;
  }

  void writeJacobian() {
    const std::vector<std::string> names = namesOf("--jacobian", *tool.jacobian);
    for (const std::string &name : names)
      if (findParameter(name)->kind() != NB_PARAMETER_F64)
        throw UsageError("--jacobian: '" + name + "' is not one number and has no one image; --grad "
                         "differentiates by it");
    std::filesystem::create_directories(*tool.outDirectory);
    const std::vector<DerivativeImage> images = simulator.jacobian(*tool.jacobian);
    warnOfFallback();
    deadAmong(names, {});
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
    // One panel is an image of two dimensions, as NumPy's users expect.
    io::writeNpy(file, std::span(sizes).subspan(shape[0] == 1 ? 1 : 0), pixels);
    file.commit();
    if (!tool.json && !tool.quiet)
      std::fprintf(out, "wrote %s\n", path.c_str());
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
