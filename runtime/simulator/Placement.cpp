#include "runtime/simulator/Placement.h"

#include "lib/Culling/Estimate.h"
#include "lib/Images/ImageRegion.h"
#include "lib/Process/Refusal.h"
#include "lib/Program/KernelSpecification.h"
#include "lib/Program/Parameters.h"
#include "lib/Program/Precision.h"
#include "lib/Program/Specialize.h"
#include "runtime/gpu/Device.h"
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

DeviceChoice choose(const SimulatorOptions &options, double samples) {
  const DeviceChoice &choice = options.device;
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
  const io::ImageRegion region = io::ImageRegion::of(experiment);
  std::int64_t pixels = 0;
  if (mask.empty())
    pixels = region.rows() * region.pixelsOfRow();
  else
    region.forEachPixel([&](std::size_t i) { pixels += mask[i] != 0; });
  return double(pixels) * samplesPerPixel(experiment);
}

KernelRequest requestFor(const ProgramVariant &variant, const SimulatorOptions &options) {
  KernelRequest request;
  request.variant = variant;
  request.precision = options.precision;
  request.file = options.kernelFile;
  request.dumpIR = options.dumpIR;
  request.passes = options.passes;
  request.choice = options.device;
  if (request.choice.kind == Kind::GpuOnCpu)
    request.target = {.kind = KernelTarget::Kind::GpuOnCpu, .warp = request.choice.warp};
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
  if (!passes.program || decision.request.derives())
    return;
  KernelSpecification scheduled = *passes.program;
  scheduled.variant->imageType = needed.imageType; // which nb-sim rounds to at the end
  if (scheduled.variant != needed)
    throw std::invalid_argument("the schedule is for another program: that of " +
                                passes.program->toString() + ", and " + needed.toString() +
                                " is asked for; make one for it with nb-try --tune");
  if (const CullSetting &cull = decision.request.cull; scheduled.cull != cull)
    leaveOut("--cull=" + scheduled.cull.toString(), "--cull=" + cull.toString());
}

Decision decide(const Experiment &experiment, const SimulatorOptions &options,
                const Derivative &derivative, std::optional<ImageType> pixels, Runner runner) {
  ProgramVariant variant = experiment.variant;
  variant.imageType = pixels.value_or(variant.imageType);
  Decision decision{requestFor(variant, options), {}};
  KernelRequest &request = decision.request;
  request.derivative = derivative;
  request.shape = shapeOf(experiment);

  const Precision precision = precisionFor(options.precision, experiment);
  const bool given = !options.kernelFile.empty() || options.kernel;
  if (!given && !options.anyNumbers)
    request.precision = precision;
  if (precision != options.precision && !options.anyNumbers) {
    const bool tophat = rowOf(variant.shape).mostMixedCells == 0;
    const bool single = options.precision == Precision::F32;
    decision.notes.push_back("--precision=" + toString(options.precision) +
                             (single   ? " has too few digits for averages in closed form; "
                              : tophat ? " is slower than f64 for a tophat, and may miss its rim; "
                                       : " keeps its bound up to " +
                                             std::to_string(mostCellsOfMixed(experiment)) +
                                             " cells along an axis; ") +
                             (given    ? "the kernel of --kernel computes with it all the same"
                              : single ? "they are computed in " + toString(precision)
                              : tophat ? "it is computed in f64"
                                       : "this larger crystal is computed in f64"));
  }

  // A GPU computes all samples unless less is asked for: it takes a sample in a hundredth of the
  // time of a processor, which looks for those with light. Its kernel is for all numbers.
  const Kind device = request.choice.kind;
  const bool ofGpu = runner == Runner::Gpu || device == Kind::Gpu || device == Kind::GpuOnCpu;
  if (options.cull || (!ofGpu && !options.anyNumbers))
    request.cull =
        cullFor(options.cull, experiment, request.precision, variant.imageType, derivative);
  if (request.cull.isOff() && options.cull && !options.cull->isOff())
    decision.notes.push_back("--cull=" + options.cull->toString() +
                             " leaves out no sample: looking for those with light would take "
                             "longer here than computing all of them");
  if (!options.anyNumbers && runner != Runner::Interpreter)
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
      hasFile(!options.kernelFile.empty()) {}

/// The GPUs that are asked for or that "auto" finds. Throws std::runtime_error, in one sentence,
/// when a GPU is asked for and cannot be had.
static gpu::Devices gpusOf(const DeviceChoice &choice, bool hasFile) {
  // A kernel file says itself what it is for; its GPU is found when it is run.
  const bool maybe = choice.kind == Kind::Auto && !hasFile;
  if (choice.kind != Kind::Gpu && !maybe)
    return {};
  try {
    return gpu::openDevices(choice);
  } catch (const gpu::NoGpu &) {
    if (!maybe)
      throw;
    return {};
  }
}

KernelRequest Placement::requestOn(const DeviceChoice &device, const Asked &asked) const {
  const gpu::Devices gpus = interprets ? gpu::Devices() : gpusOf(device, hasFile);
  KernelRequest request = asked(interprets      ? Runner::Interpreter
                                : !gpus.empty() ? Runner::Gpu
                                                : Runner::Processor);
  request.engine = engine();
  request.choice = device;
  request.gpus = gpus;
  if (!gpus.empty())
    request.target = KernelTarget::fromString(gpus.front()->chip());
  else if (usesKeptSchedule && !interprets)
    request = withKeptSchedule(std::move(request));
  return request;
}

KernelRequest Placement::shown(const Asked &asked) const {
  return requestOn(choice.kind == Kind::Auto ? DeviceChoice(Kind::Cpu) : choice, asked);
}

Program Placement::interpret(KernelRequest request, const Instruments &look) const {
  request.engine = Engine::Interpreter;
  request.fixed.clear();
  request.target = {};
  if (look.probe.empty())
    return Program(kernels.program(request), look);
  return Program(kernels.compiler(request)->prepare(request, look.probe), look);
}

std::optional<std::string> keptPipeline(const KernelRequest &request) {
  if (request.derives() || request.target != KernelTarget() || request.passes.any())
    return std::nullopt;
  const auto schedules = TunedSchedules::fromEnvironment();
  if (!schedules)
    return std::nullopt;
  KernelSpecification image{request.variant, {}, {}, request.cull};
  image.variant->imageType = ImageType::F32; // as those of the flags, for which they are kept
  return schedules->find(image.toString(), toString(request.precision), request.shape);
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

Program Placement::place(const Asked &asked) {
  if (given) {
    const KernelRequest request = asked(Runner::Processor);
    checkFits(*given, request.specification(), request.precision, "the simulator's kernel");
    return Program(given);
  }
  DeviceChoice device = choice;
  while (!interprets) {
    const KernelRequest request = requestOn(device, asked);
    // Looking for drivers takes longer than a small image.
    if (device.kind == Kind::Auto && !hasFile && request.gpus.empty())
      choice = device = Kind::Cpu;
    try {
      return Program(kernels.get(request), request.gpus);
    } catch (const Refusal &) {
      throw;
    } catch (const std::runtime_error &error) {
      if (choice.kind == Kind::Auto && !request.gpus.empty()) {
        deviceReason = error.what();
        device = Kind::Cpu;
        continue;
      }
      if (!fallback || !request.gpus.empty() || !kernels.compiler(request)->canInterpret())
        throw;
      reason = error.what();
      interprets = true;
    }
  }
  return interpret(asked(Runner::Interpreter));
}

} // namespace nanobragg
