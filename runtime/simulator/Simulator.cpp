#include "nanobragg/Simulator.h"

#include "runtime/gpu/DevicePlacement.h"
#include "runtime/kernels/Refusal.h"

#include "lib/CommandLine/ExperimentOf.h"
#include "lib/Experiment/DeadGradients.h"
#include "lib/Experiment/Derivative.h"
#include "lib/Experiment/ParameterElements.h"
#include "lib/Experiment/ParameterGroups.h"
#include "lib/IO/ImageRegion.h"
#include "nanobragg/DerivativeNames.h"
#include "runtime/processor/Stopwatch.h"
#include "runtime/simulator/BoundProgram.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

using Mode = Derivative::Mode;

std::vector<std::uint8_t> renderedPixels(const Experiment &experiment) {
  const io::ImageRegion region = io::ImageRegion::of(experiment);
  const std::vector<std::uint8_t> &mask = experiment.detector.mask;
  std::vector<std::uint8_t> rendered(region.pixelCount());
  region.forEachPixel([&](std::size_t i) { rendered[i] = mask.empty() || mask[i]; });
  return rendered;
}

HklGrid copyOf(const nb_hkl_grid &grid) {
  constexpr std::int64_t most = 1 << 20;
  std::int64_t size = 1;
  for (auto [least, greatest] : {std::pair(grid.h_min, grid.h_max), {grid.k_min, grid.k_max},
                                 {grid.l_min, grid.l_max}}) {
    if (least > greatest || least < -most || greatest > most ||
        size > (std::int64_t(1) << 40) / (greatest - least + 1))
      throw std::invalid_argument("the structure factors have a box of Miller indices from " +
                                  std::to_string(least) + " to " + std::to_string(greatest));
    size *= greatest - least + 1;
  }
  if (!grid.data)
    throw std::invalid_argument("the structure factors have no data");
  if (std::any_of(grid.data, grid.data + size, [](double f) { return !std::isfinite(f); }))
    throw std::invalid_argument("a structure factor is not finite");
  return {grid.h_min, grid.h_max, grid.k_min, grid.k_max, grid.l_min, grid.l_max,
          std::vector<double>(grid.data, grid.data + size)};
}

DeviceChoice choiceOf(const std::string &device) {
  if (const auto choice = DeviceChoice::fromString(device.empty() ? "auto" : device))
    return *choice;
  throw std::invalid_argument("'" + device +
                              "' is no device; say auto, cpu, gpu-on-cpu, cuda or cuda:N");
}

std::vector<double> copyOf(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

} // namespace

struct Simulator::State {
  State(const Experiment &given, const SimulatorOptions &options)
      : experiment(given), options(options),
        choice(choiceOf(options.device)),
        kernels(options.kernels ? *options.kernels : KernelProvider::ofProcess()),
        interpret(options.engine ? *options.engine == Engine::Interpreter : compilationDisabled()) {
    experiment.variant.imageType = ImageType::F64;
    rendered = renderedPixels(experiment);
  }

  KernelRequest requestFor(const Derivative &derivative) const {
    KernelRequest request;
    request.variant = experiment.variant.toString();
    request.precision = options.precision;
    request.derivative = derivative.toString();
    request.dumpIR = options.dumpIR;
    request.engine = interpret ? Engine::Interpreter : Engine::Fused;
    if (!interpret)
      request.fixed = experiment.fixedCounts();
    request.choice = choice;
    findDevice(request);
    return request;
  }

  /// The program on the GPU, or null when it cannot run there and need not.
  BoundProgram *programOnGpu(const std::string &key, const KernelRequest &request) {
    if (!request.gpu || choice.kind != DeviceChoice::Kind::Auto)
      return nullptr;
    try {
      return &programs.try_emplace(key, kernels, request, experiment).first->second;
    } catch (const Refusal &) {
      throw;
    } catch (const std::runtime_error &error) {
      deviceFallbackReason = error.what();
      return nullptr;
    }
  }

  /// The program for a derivative, made when it is first asked for.
  BoundProgram &program(const Derivative &derivative) {
    const std::string key = derivative.toString();
    if (const auto found = programs.find(key); found != programs.end())
      return found->second;
    KernelRequest request = requestFor(derivative);
    if (BoundProgram *program = programOnGpu(key, request))
      return *program;
    if (choice.kind == DeviceChoice::Kind::Auto)
      request = onProcessor(request);
    try {
      return programs.try_emplace(key, kernels, request, experiment).first->second;
    } catch (const Refusal &) {
      throw;
    } catch (const std::runtime_error &error) {
      if (interpret || !options.fallback || request.gpu || !kernels.compiler()->canInterpret())
        throw;
      fallbackReason = error.what();
      interpret = true;
      return programs.try_emplace(key, kernels, requestFor(derivative), experiment)
          .first->second;
    }
  }

  Derivative derivativeBy(Mode mode, std::string_view parameters) const {
    Derivative derivative;
    derivative.mode = mode;
    derivative.parameters = resolveParameters(parameters, experiment.variant);
    return derivative;
  }

  RunOptions runOptions() const {
    RunOptions run;
    run.threads = options.threads;
    return run;
  }

  void run(BoundProgram &program, const Derivative &derivative) {
    const bool value = derivative.mode == Mode::Value;
    ++(value ? timing.values : timing.derivatives);
    const TimeAdded watch(value ? timing.value : timing.derivative);
    count(program.run(runOptions()));
  }

  void count(const RunResult &run) {
    if (run.device.empty())
      return;
    timing.device = run.device;
    timing.launches += run.launches;
    timing.uploadedBytes += run.uploadedBytes;
    timing.deviceBytes = std::max(timing.deviceBytes, run.deviceBytes);
  }

  std::vector<Gradient> outputs(const BoundProgram &program, const Derivative &derivative,
                                DerivativeKind kind) const {
    std::vector<Gradient> gradients;
    for (const std::string &name : derivative.parameters)
      gradients.push_back(
          {name, findParameter(name)->unit, copyOf(program.output(derivativeName(kind, name)))});
    return gradients;
  }

  /// The tangents of all parameters, zero where the direction says nothing.
  std::vector<std::vector<double>> bindDirection(BoundProgram &program,
                                                 const Derivative &derivative,
                                                 std::span<const Direction> direction) const {
    for (const Direction &change : direction)
      if (std::find(derivative.parameters.begin(), derivative.parameters.end(),
                    change.parameter) == derivative.parameters.end())
        throw std::invalid_argument("the direction has '" + change.parameter +
                                    "', which is not among the parameters");
    std::vector<std::vector<double>> tangents;
    for (const std::string &name : derivative.parameters) {
      std::vector<double> tangent(elementCount(experiment, *findParameter(name)));
      for (const Direction &change : direction)
        if (change.parameter == name)
          tangent = change.values;
      tangents.push_back(std::move(tangent));
      program.bind(tangentName(name), tangents.back());
    }
    return tangents;
  }

  const Parameter &parameter(std::string_view name) const {
    const Parameter *found = findParameter(name);
    if (!found || !found->isUsedBy(experiment.variant))
      throw std::invalid_argument("this experiment has no parameter '" + std::string(name) + "'");
    return *found;
  }

  Experiment experiment;
  SimulatorOptions options;
  DeviceChoice choice;
  KernelProvider &kernels;
  bool interpret;
  bool gridIsOwn = false;
  std::optional<std::string> fallbackReason, deviceFallbackReason;
  std::vector<std::uint8_t> rendered;
  std::map<std::string, BoundProgram> programs; ///< by Derivative::toString()
  SimulatorTiming timing;
};

Simulator::Simulator(const Experiment &experiment, const SimulatorOptions &options)
    : state(std::make_unique<State>(experiment, options)) {}
Simulator::Simulator(Simulator &&) noexcept = default;
Simulator &Simulator::operator=(Simulator &&) noexcept = default;
Simulator::~Simulator() = default;

Simulator Simulator::fromFlags(const std::vector<std::string> &flags,
                               const SimulatorOptions &options) {
  SimulatorOptions chosen = options;
  if (chosen.device.empty())
    chosen.device = deviceOf(flags).toString();
  return Simulator(experimentOf(flags), chosen);
}

Engine Simulator::engine() const {
  return state->interpret ? Engine::Interpreter : Engine::Fused;
}
const std::optional<std::string> &Simulator::fallbackReason() const {
  return state->fallbackReason;
}
const std::optional<std::string> &Simulator::deviceFallbackReason() const {
  return state->deviceFallbackReason;
}
const Experiment &Simulator::experiment() const { return state->experiment; }
const SimulatorTiming &Simulator::timing() const { return state->timing; }
std::array<std::int64_t, 3> Simulator::shape() const {
  const Detector &detector = state->experiment.detector;
  return {state->experiment.panelCount(), detector.slowPixels, detector.fastPixels};
}
std::size_t Simulator::pixels() const { return state->rendered.size(); }
std::span<const std::uint8_t> Simulator::rendered() const { return state->rendered; }

std::vector<double> Simulator::get(std::string_view name) const {
  const Parameter &parameter = state->parameter(name);
  std::vector<double> values(elementCount(state->experiment, parameter));
  for (std::size_t i = 0; i != values.size(); ++i)
    values[i] = element(std::as_const(state->experiment), parameter, i);
  return values;
}

void Simulator::set(std::string_view name, double value) { set(name, std::span(&value, 1)); }

void Simulator::set(std::string_view name, std::span<const double> values) {
  const Parameter &parameter = state->parameter(name);
  const std::size_t count = elementCount(state->experiment, parameter);
  if (values.size() != count || count == 0)
    throw std::invalid_argument("parameter '" + std::string(name) + "' is given " +
                                std::to_string(values.size()) + " numbers and has " +
                                std::to_string(count));
  if (parameter.kind() == NB_PARAMETER_HKL_GRID && !state->gridIsOwn) {
    ownGrid(state->experiment);
    state->gridIsOwn = true;
    state->programs.clear(); // they are bound to the grid that others have too
  }
  for (std::size_t i = 0; i != count; ++i)
    element(state->experiment, parameter, i) = values[i];
}

void Simulator::setStructureFactors(const nb_hkl_grid &grid) {
  auto copy = std::make_shared<HklGrid>(copyOf(grid));
  Experiment &experiment = state->experiment;
  state->programs.clear(); // they are bound to the grid that was
  experiment.crystal.grid = std::move(copy);
  state->gridIsOwn = true;
  if (experiment.variant.structureFactors == StructureFactors::Constant) {
    // As nb-sim chooses where no flag says it.
    const bool thin = std::ranges::any_of(experiment.crystal.ncells, [](double n) { return n <= 2; });
    experiment.variant.structureFactors =
        thin ? StructureFactors::Tricubic : StructureFactors::Nearest;
  }
}

std::vector<DeadGradient> Simulator::deadGradients(std::string_view parameters) const {
  return nanobragg::deadGradients(state->experiment,
                                  resolveParameters(parameters, state->experiment.variant));
}

std::span<const double> Simulator::value() {
  BoundProgram &program = state->program({});
  state->run(program, {});
  return program.output("image");
}

double Simulator::loss(const Loss &loss) { return loss.evaluate(value(), state->rendered, {}); }

std::vector<Gradient> Simulator::gradient(std::string_view parameters,
                                          std::span<const double> cotangent) {
  const Derivative derivative = state->derivativeBy(Mode::VJP, parameters);
  BoundProgram &program = state->program(derivative);
  program.bind(cotangentName("image"), cotangent);
  state->run(program, derivative);
  return state->outputs(program, derivative, DerivativeKind::Gradient);
}

LossGradient Simulator::gradient(std::string_view parameters, const Loss &loss) {
  std::vector<double> cotangent(pixels());
  LossGradient result;
  result.loss = loss.evaluate(value(), state->rendered, cotangent);
  result.gradient = gradient(parameters, cotangent);
  return result;
}

std::vector<DerivativeImage> Simulator::jacobian(std::string_view parameters) {
  const Derivative derivative = state->derivativeBy(Mode::Jacobian, parameters);
  for (const std::string &name : derivative.parameters)
    if (findParameter(name)->kind() != NB_PARAMETER_F64)
      throw std::invalid_argument("'" + name +
                                  "' is not one number: there is no one image of its derivative; "
                                  "ask for the derivative along a direction");
  BoundProgram &program = state->program(derivative);
  state->run(program, derivative);
  std::vector<DerivativeImage> images;
  for (const std::string &name : derivative.parameters)
    images.push_back({name, findParameter(name)->unit,
                      copyOf(program.output(derivativeName(DerivativeKind::Derivative, name)))});
  return images;
}

std::vector<double> Simulator::jvp(std::string_view parameters,
                                   std::span<const Direction> direction) {
  const Derivative derivative = state->derivativeBy(Mode::JVP, parameters);
  BoundProgram &program = state->program(derivative);
  const auto tangents = state->bindDirection(program, derivative, direction);
  state->run(program, derivative);
  return copyOf(program.output(derivativeName(DerivativeKind::JVP, "image")));
}

std::vector<Gradient> Simulator::hvp(std::string_view parameters,
                                     std::span<const Direction> direction,
                                     std::span<const double> cotangent) {
  const Derivative derivative = state->derivativeBy(Mode::HVP, parameters);
  BoundProgram &program = state->program(derivative);
  program.bind(cotangentName("image"), cotangent);
  const auto tangents = state->bindDirection(program, derivative, direction);
  state->run(program, derivative);
  return state->outputs(program, derivative, DerivativeKind::HVP);
}

std::vector<Gradient> Simulator::hvp(std::string_view parameters,
                                     std::span<const Direction> direction, const Loss &loss) {
  std::vector<double> cotangent(pixels());
  loss.evaluate(value(), state->rendered, cotangent);
  std::vector<Gradient> product = hvp(parameters, direction, cotangent);
  // The loss bends too: its curvature times how the image changes is one more cotangent.
  bool bends = false;
  const std::vector<double> change = jvp(parameters, direction);
  for (std::size_t i = 0; i != change.size(); ++i) {
    cotangent[i] = state->rendered[i] ? loss.curvature(i) * change[i] : 0;
    bends |= cotangent[i] != 0;
  }
  if (!bends)
    return product;
  const std::vector<Gradient> bend = gradient(parameters, cotangent);
  for (std::size_t i = 0; i != product.size(); ++i)
    for (std::size_t j = 0; j != product[i].values.size(); ++j)
      product[i].values[j] += bend[i].values[j];
  return product;
}

} // namespace nanobragg
