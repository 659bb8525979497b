#include "runtime/simulator/Placement.h"

#include "lib/Experiment/Culling.h"
#include "lib/Experiment/Parameters.h"
#include "lib/Experiment/Precision.h"
#include "lib/IO/ImageRegion.h"
#include "runtime/gpu/DevicePlacement.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/kernels/Refusal.h"
#include "runtime/kernels/TunedSchedules.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace nanobragg {
namespace {

using Kind = DeviceChoice::Kind;

/// What one thread renders, at 4 ns each, while a GPU's driver starts.
constexpr double samplesOfGpuStart = 5e7;

bool isOn(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

DeviceChoice parsed(const std::string &device) {
  return DeviceChoice::parse(device.empty() ? "auto" : device);
}

DeviceChoice choose(const SimulatorOptions &options, double samples) {
  const DeviceChoice choice = parsed(options.device);
  // A kernel file says itself what it is for.
  if (choice.kind != Kind::Auto || !options.once || !options.kernelFile.empty())
    return choice;
  const bool short_ = samples < samplesOfGpuStart * resolveThreads(options.threads);
  return short_ ? DeviceChoice{Kind::Cpu} : choice;
}

bool choosesInterpreter(const SimulatorOptions &options) {
  if (options.engine)
    return *options.engine == Engine::Interpreter;
  return options.kernelFile.empty() && !options.kernel && compilationDisabled();
}

} // namespace

bool compilationDisabled() {
  return isOn("NANOBRAGG_DISABLE_COMPILE") || isOn("NANOBRAG_DISABLE_COMPILE");
}

double samplesOf(const Experiment &experiment) {
  const std::vector<std::uint8_t> &mask = experiment.detector.mask;
  std::size_t pixels = 0;
  io::ImageRegion::of(experiment).forEachPixel([&](std::size_t i) {
    pixels += mask.empty() || mask[i];
  });
  return double(pixels) * samplesPerPixel(experiment);
}

KernelRequest requestFor(const Experiment &experiment, const SimulatorOptions &options,
                         const std::string &derivative) {
  KernelRequest request;
  ProgramVariant variant = experiment.variant;
  variant.cull = derivative.empty() ? cullFor(options.cull, experiment)
                                    : cullFor(options.cull, experiment, Makes::Derivatives);
  request.variant = variant.toString();
  const bool given = !options.kernelFile.empty() || options.kernel;
  request.precision = given ? options.precision : precisionFor(options.precision, experiment);
  request.derivative = derivative;
  request.file = options.kernelFile;
  request.dumpIR = options.dumpIR;
  // Who gave the schedule asked for this precision, and crystals may have become too large for it.
  const std::string &scheduled = options.passes.precision;
  if (!scheduled.empty() && scheduled != options.precision)
    throw std::invalid_argument("the schedule is for precision " + scheduled + ", and " +
                                options.precision + " is asked for");
  request.passes = options.passes;
  if (!scheduled.empty() && scheduled != request.precision)
    request.passes.pipeline.clear();
  request.fixed = experiment.fixedCounts();
  request.choice = parsed(options.device);
  if (request.choice.kind == Kind::GpuOnCpu)
    request.target = "gpu-on-cpu";
  return request;
}

Placement::Placement(const SimulatorOptions &options, double samples)
    : kernels(options.kernels ? *options.kernels : KernelProvider::ofProcess()),
      given(options.kernel), choice(choose(options, samples)),
      interprets(choosesInterpreter(options)),
      takesKept(options.keptSchedule && !options.passes.any() && options.kernelFile.empty() &&
                options.pixels.empty()),
      fallback(options.fallback && options.kernelFile.empty() && !options.passes.any()),
      cullsByDefault(options.cull.empty()) {}

/// A GPU computes all samples unless somebody asked for less: it takes a sample in a hundredth of
/// the time of a processor, which looks for those with light.
KernelRequest Placement::withCulling(KernelRequest request) const {
  if (cullsByDefault && (request.gpu || request.target == "gpu-on-cpu"))
    request.variant = withoutCull(request.variant);
  return request;
}

KernelRequest Placement::decided(KernelRequest request) const {
  request.engine = engine();
  if (interprets)
    request.fixed.clear();
  request.choice = choice;
  if (choice.kind != Kind::Auto)
    findDevice(request);
  return withCulling(std::move(request));
}

Program Placement::interpret(KernelRequest request, const Instruments &look) const {
  request.engine = Engine::Interpreter;
  request.fixed.clear();
  request.target = "native";
  if (look.probe.empty())
    return Program(kernels.program(request), look);
  return Program(kernels.compiler(request)->prepare(request, look.probe), look);
}

Program Placement::placeGiven(const KernelRequest &request) const {
  checkFits(*given, request.specification(), request.precision, "the simulator's kernel");
  return Program(given);
}

/// The pipeline that nb-try --tune has kept for it on this processor, if any.
static KernelRequest scheduled(KernelRequest request) {
  if (request.hasDerivative() || request.target != "native")
    return request;
  if (const auto schedules = TunedSchedules::fromEnvironment()) {
    ProgramVariant variant = ProgramVariant::fromString(request.variant);
    variant.imageType = ImageType::F32; // as those of the flags, for which they are kept
    if (const auto found = schedules->find(variant.toString(), request.precision))
      request.passes.pipeline = *found;
  }
  return request;
}

/// Nothing when the GPU cannot.
std::optional<Program> Placement::placeOnGpu(const KernelRequest &request) {
  try {
    return Program(kernels.get(withCulling(request)), request.gpu);
  } catch (const Refusal &) {
    throw;
  } catch (const std::runtime_error &error) {
    deviceReason = error.what();
    return std::nullopt;
  }
}

Program Placement::place(KernelRequest request) {
  if (given)
    return placeGiven(request);
  if (interprets)
    return interpret(std::move(request));
  request = decided(std::move(request));
  if (choice.kind == Kind::Auto) {
    findDevice(request);
    if (request.gpu) {
      if (auto program = placeOnGpu(request))
        return std::move(*program);
      request = onProcessor(std::move(request));
    }
  }
  if (takesKept && !request.gpu)
    request = scheduled(std::move(request));
  try {
    return Program(kernels.get(withCulling(request)), request.gpu);
  } catch (const Refusal &) {
    throw;
  } catch (const std::runtime_error &error) {
    if (!fallback || request.gpu || !kernels.compiler(request)->canInterpret())
      throw;
    reason = error.what();
    interprets = true;
  }
  return interpret(std::move(request));
}

} // namespace nanobragg
