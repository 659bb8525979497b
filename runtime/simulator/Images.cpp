#include "nanobragg/Simulator.h"

#include "lib/Experiment/Photons.h"
#include "runtime/simulator/State.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nanobragg {
namespace {

ImageType typeOf(PixelType pixels) {
  return pixels == PixelType::F32 ? ImageType::F32 : ImageType::F64;
}

using Pixels = std::vector<double>;

struct Tolerance {
  double relative, ofMaximum;
};

/// Those of docs/precision.md, and what rounding makes of sums in f64.
Tolerance toleranceOf(const ComparisonOptions &options, Precision precision) {
  const Tolerance usual = precision == Precision::F64     ? Tolerance{1e-9, 1e-12}
                          : precision == Precision::Mixed ? Tolerance{1e-5, 1e-7}
                                                          : Tolerance{1e-3, 1e-4};
  return {options.relative.value_or(usual.relative), options.ofMaximum.value_or(usual.ofMaximum)};
}

/// The comparison of photons with that of what the runtime and the program make of them.
EngineComparison withSpread(EngineComparison photons, const Pixels &image, const Pixels &reference,
                            const Tolerance &tolerance) {
  double largest = 0, maximum = 0;
  for (double value : reference)
    maximum = std::max(maximum, std::fabs(value));
  std::size_t beyond = 0;
  for (std::size_t i = 0; i != image.size(); ++i) {
    const double off = std::fabs(image[i] - reference[i]);
    largest = std::max(largest, off);
    beyond +=
        !(off <= tolerance.relative * std::fabs(reference[i]) + tolerance.ofMaximum * maximum);
  }
  char text[200];
  std::snprintf(text, sizeof text,
                "point spread: largest difference %.3e, %zu pixels are beyond the tolerance\n",
                largest, beyond);
  return {photons.differ || beyond > 0, "photons: " + photons.report + text};
}

} // namespace

void Simulator::prepare(PixelType pixels) {
  if (state->chain)
    return state->chain->photonSimulator().prepare();
  if (state->quadrature)
    return state->quadrature->first().prepare();
  state->program(typeOf(pixels));
}

std::string Simulator::target(PixelType pixels) {
  if (state->chain)
    return state->chain->photonSimulator().target();
  if (state->quadrature)
    return state->quadrature->first().target();
  return state->program(typeOf(pixels)).descriptor().target;
}

std::span<const double> Simulator::value() {
  if (state->chain) {
    state->listedValue.resize(pixels());
    if (state->chain->render(std::span(state->listedValue), state->everyRun).cancelled)
      throw Cancelled();
    return state->listedValue;
  }
  if (state->quadrature) {
    state->listedValue.resize(pixels());
    if (state->quadrature->render(std::span(state->listedValue), state->everyRun).cancelled)
      throw Cancelled();
    return state->listedValue;
  }
  BoundProgram &program = state->program(ImageType::F64);
  if (state->runValue(program, state->everyRun).cancelled)
    throw Cancelled();
  if (!state->listed.any())
    return program.output("image");
  return state->listedValue = state->toCaller(program.output("image"));
}

std::span<const double> Simulator::photons() const {
  return state->chain ? state->chain->photons() : std::span<const double>();
}

double Simulator::loss(const Loss &loss) { return loss.evaluate(value(), rendered(), {}); }

RunResult Simulator::render(std::span<float> image, const RunOptions &run) {
  if (state->chain)
    return state->chain->render(image, run);
  if (state->quadrature)
    return state->quadrature->render(image, run);
  return state->render(state->program(ImageType::F32), run, image);
}

RunResult Simulator::render(std::span<double> image, const RunOptions &run) {
  if (state->chain)
    return state->chain->render(image, run);
  if (state->quadrature)
    return state->quadrature->render(image, run);
  return state->render(state->program(ImageType::F64), run, image);
}

std::optional<DeviceMemory> Simulator::imageOnDevice(PixelType pixels, const RunOptions &run) {
  if (!state->isOfProgram())
    return std::nullopt;
  BoundProgram &program = state->program(typeOf(pixels));
  if (!program.isOnGpu())
    return std::nullopt;
  ++state->timing.values;
  const TimeAdded watch(state->timing.value);
  RunResult result = state->counted(program.runAndKeep(state->withThreads(run)));
  if (result.cancelled)
    throw Cancelled();
  return std::move(result.image);
}

RunResult Simulator::render(std::span<float> image, const RunOptions &run,
                            const Instruments &look) {
  if (state->chain && !ResponseChain::isInProgram(state->experiment))
    return state->chain->render(image, run, &look);
  BoundProgram program = state->interpreted(ImageType::F32, look);
  return state->render(program, run, image);
}

RunResult Simulator::render(std::span<double> image, const RunOptions &run,
                            const Instruments &look) {
  if (state->chain && !ResponseChain::isInProgram(state->experiment))
    return state->chain->render(image, run, &look);
  BoundProgram program = state->interpreted(ImageType::F64, look);
  return state->render(program, run, image);
}

std::string Simulator::trace(const PixelIndex &pixel, PixelType pixels) {
  if (state->chain && !ResponseChain::isInProgram(state->experiment))
    return state->chain->photonSimulator().trace(pixel, pixels);
  return state->interpreted(typeOf(pixels)).trace(pixel);
}

std::string Simulator::emit(const std::string &stage, PixelType pixels) {
  requireWholeProgram(state->experiment);
  const KernelRequest request = state->placement.decided(state->request(typeOf(pixels)));
  return state->placement.provider().compiler(request)->emit(request, stage);
}

EngineComparison Simulator::compareEngines(const ComparisonOptions &options) {
  const KernelRequest request = state->request(ImageType::F64);
  const Tolerance tolerance = toleranceOf(options, request.precision);
  if (state->chain) {
    const EngineComparison photons = state->chain->photonSimulator().compareEngines(options);
    if (!ResponseChain::isInProgram(state->experiment))
      return photons;
    Pixels image(pixels()), reference(pixels());
    BoundProgram program = state->interpreted(ImageType::F64);
    if (state->chain->render(std::span(image), state->everyRun).cancelled ||
        state->render(program, state->everyRun, std::span(reference)).cancelled)
      throw Cancelled();
    return withSpread(photons, image, reference, tolerance);
  }
  // Both engines take the program's arguments, whatever passes do.
  KernelRequest plain = request;
  plain.passes = {};
  BoundProgram arguments(state->placement.interpret(std::move(plain)), state->experiment);
  nb_compare_options c = {};
  c.rtol = tolerance.relative;
  c.atol_of_max = tolerance.ofMaximum;
  c.every_stage = options.everyStage;
  c.threads = state->options.threads;
  return state->placement.provider().compiler(request)->compareEngines(request,
                                                                       arguments.arguments(), c);
}

} // namespace nanobragg
