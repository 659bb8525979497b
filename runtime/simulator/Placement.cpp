#include "runtime/simulator/Placement.h"

#include "lib/Culling/Estimate.h"
#include "lib/Images/ImageRegion.h"
#include "lib/Process/Refusal.h"
#include "lib/Program/Parameters.h"
#include "lib/Program/Precision.h"
#include "lib/Program/Specialize.h"
#include "runtime/kernels/DevicePlacement.h"
#include "runtime/kernels/KernelFit.h"
#include "runtime/kernels/TunedSchedules.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace nanobragg {
namespace {

using Kind = DeviceChoice::Kind;

/// Samples that one thread renders, at 4 ns each, while a GPU's driver starts.
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

KernelRequest requestFor(const ProgramVariant &variant, const SimulatorOptions &options) {
  KernelRequest request;
  request.variant = variant;
  request.precision = options.precision;
  request.file = options.kernelFile;
  request.dumpIR = options.dumpIR;
  request.passes = options.passes;
  request.choice = parsed(options.device);
  if (request.choice.kind == Kind::GpuOnCpu)
    findDevice(request);
  if (const auto &scheduled = options.passes.precision; scheduled && scheduled != options.precision)
    throw std::invalid_argument("the schedule is for --precision=" + toString(*scheduled) +
                                ", and --precision=" + toString(options.precision) +
                                " is asked for");
  return request;
}

/// A schedule is for one program. A program that follows from the numbers may change, so there the
/// compiler's own passes are taken.
static void fitSchedule(Decision &decision) {
  OwnPasses &passes = decision.request.passes;
  const ProgramVariant &needed = decision.request.variant;
  const auto leaveOut = [&](const std::string &is, const std::string &needs) {
    decision.notes.push_back("the schedule is left out: it is for " + is + ", and " + needs +
                             " is needed here");
    passes.pipeline.clear();
  };
  if (passes.pipeline.empty())
    return;
  if (passes.precision && passes.precision != decision.request.precision)
    leaveOut("--precision=" + toString(*passes.precision), toString(decision.request.precision));
  if (!passes.variant || decision.request.derives())
    return;
  ProgramVariant scheduled = *passes.variant;
  scheduled.imageType = needed.imageType; // which nb-sim rounds to at the end
  const CullSetting cull = std::exchange(scheduled.cull, needed.cull);
  if (scheduled != needed)
    throw std::invalid_argument("the schedule is for another program: that of " +
                                passes.variant->toString() + ", and " + needed.toString() +
                                " is asked for; make one for it with nb-try --tune");
  if (cull != needed.cull)
    leaveOut("--cull=" + cull.toString(), "--cull=" + needed.cull.toString());
}

Decision decide(const Experiment &experiment, const SimulatorOptions &options,
                const Derivative &derivative, std::optional<ImageType> pixels) {
  ProgramVariant variant = experiment.variant;
  variant.imageType = pixels.value_or(variant.imageType);
  Decision decision{requestFor(variant, options), {}};
  KernelRequest &request = decision.request;
  request.derivative = derivative;

  const Precision precision = precisionFor(options.precision, experiment);
  const bool given = !options.kernelFile.empty() || options.kernel;
  if (!given && !options.anyNumbers)
    request.precision = precision;
  if (precision != options.precision && !options.anyNumbers) {
    const bool tophat = rowOf(variant.shape).mostMixedCells == 0;
    decision.notes.push_back("--precision=" + toString(options.precision) +
                             (tophat ? " is slower than f64 for a tophat, and may miss its rim; "
                                     : " keeps its bound up to " +
                                           std::to_string(mostCellsOfMixed(experiment)) +
                                           " cells along an axis; ") +
                             (given    ? "the kernel of --kernel computes with it all the same"
                              : tophat ? "it is computed in f64"
                                       : "this larger crystal is computed in f64"));
  }

  const bool ofGpu = request.choice.kind == Kind::Gpu || request.choice.kind == Kind::GpuOnCpu;
  if (options.cull || (!ofGpu && !options.anyNumbers))
    request.variant.cull =
        cullFor(options.cull, experiment, request.precision, variant.imageType, derivative);
  if (request.variant.cull.isOff() && options.cull && !options.cull->isOff())
    decision.notes.push_back("--cull=" + options.cull->toString() +
                             " leaves out no sample: looking for those with light would take "
                             "longer here than computing all of them");
  if (!options.anyNumbers)
    request.fixed =
        options.specialize && !ofGpu && samplesOf(experiment) >= fewestSpecializedSamples
            ? specializedCounts(experiment, request.precision, derivative)
            : usualCounts(experiment);
  fitSchedule(decision);
  return decision;
}

Placement::Placement(const SimulatorOptions &options, double samples)
    : kernels(options.kernels ? *options.kernels : KernelProvider::ofProcess()),
      given(options.kernel), choice(choose(options, samples)),
      interprets(choosesInterpreter(options)),
      usesKeptSchedule(options.keptSchedule && !options.passes.any() &&
                       options.kernelFile.empty() && options.pixels.empty()),
      fallback(options.fallback && options.kernelFile.empty() && !options.passes.any()),
      cullsByDefault(!options.cull) {}

/// The GPU that "auto" has found computes all samples unless less is asked for: it takes a sample
/// in a hundredth of the time of a processor, which looks for those with light. Its kernel is for
/// all numbers.
KernelRequest Placement::forDevice(KernelRequest request) const {
  if (request.gpus.empty())
    return request;
  if (cullsByDefault)
    request.variant.cull = CullSetting::off();
  leaveUsualCounts(request.fixed);
  return request;
}

KernelRequest Placement::decided(KernelRequest request) const {
  request.engine = engine();
  if (interprets)
    request.fixed.clear();
  request.choice = choice;
  if (choice.kind != Kind::Auto)
    findDevice(request);
  request = forDevice(std::move(request));
  return usesKeptSchedule && !interprets && request.gpus.empty()
             ? withKeptSchedule(std::move(request))
             : request;
}

Program Placement::interpret(KernelRequest request, const Instruments &look) const {
  request.engine = Engine::Interpreter;
  request.fixed.clear();
  request.target = {};
  if (look.probe.empty())
    return Program(kernels.program(request), look);
  return Program(kernels.compiler(request)->prepare(request, look.probe), look);
}

Program Placement::placeGiven(const KernelRequest &request) const {
  checkFits(*given, request.specification(), request.precision, "the simulator's kernel");
  return Program(given);
}

std::optional<std::string> keptPipeline(const KernelRequest &request) {
  if (request.derives() || request.target != KernelTarget() || request.passes.any())
    return std::nullopt;
  const auto schedules = TunedSchedules::fromEnvironment();
  if (!schedules)
    return std::nullopt;
  ProgramVariant variant = request.variant;
  variant.imageType = ImageType::F32; // as those of the flags, for which they are kept
  return schedules->find(variant.toString(), toString(request.precision));
}

KernelRequest withKeptSchedule(KernelRequest request) {
  if (const auto kept = keptPipeline(request)) {
    request.passes.pipeline = *kept;
    if (const auto tell = std::exchange(request.passes.tell, nullptr))
      tell("with the schedule that nb-try --tune has kept for such images; --schedule=none does "
           "without");
  }
  return request;
}

/// Nothing when the GPU cannot.
std::optional<Program> Placement::placeOnGpu(const KernelRequest &request) {
  try {
    return Program(kernels.get(forDevice(request)), request.gpus);
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
  request.engine = Engine::Fused;
  request.choice = choice;
  findDevice(request);
  if (choice.kind == Kind::Auto && !request.gpus.empty()) {
    if (auto program = placeOnGpu(request))
      return std::move(*program);
    request = onProcessor(std::move(request));
  }
  if (usesKeptSchedule && request.gpus.empty())
    request = withKeptSchedule(std::move(request));
  try {
    return Program(kernels.get(forDevice(request)), request.gpus);
  } catch (const Refusal &) {
    throw;
  } catch (const std::runtime_error &error) {
    if (!fallback || !request.gpus.empty() || !kernels.compiler(request)->canInterpret())
      throw;
    reason = error.what();
    interprets = true;
  }
  return interpret(std::move(request));
}

} // namespace nanobragg
