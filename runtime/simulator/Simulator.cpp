#include "nanobragg/Simulator.h"

#include "lib/Experiment/DeadGradients.h"
#include "lib/Experiment/ParameterElements.h"
#include "lib/Experiment/ParameterGroups.h"
#include "lib/Experiment/PossibleValues.h"
#include "runtime/simulator/State.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

HklGrid copyOf(const nb_hkl_grid &grid) {
  constexpr std::int64_t most = 1 << 20;
  std::int64_t size = 1;
  for (auto [least, greatest] :
       {std::pair(grid.h_min, grid.h_max), {grid.k_min, grid.k_max}, {grid.l_min, grid.l_max}}) {
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
  return {grid.h_min,
          grid.h_max,
          grid.k_min,
          grid.k_max,
          grid.l_min,
          grid.l_max,
          std::vector<double>(grid.data, grid.data + size)};
}

} // namespace

Simulator::Simulator(const Experiment &experiment, const SimulatorOptions &options)
    : state(std::make_unique<State>(experiment, options)) {}
Simulator::Simulator(std::unique_ptr<State> state) : state(std::move(state)) {}
Simulator Simulator::ofListed(const Experiment &experiment, const ListedPixels &listed,
                              const SimulatorOptions &options) {
  listed.requireImageOf(experiment);
  listed.requireSize(options.pixels.size());
  return Simulator(std::make_unique<State>(experiment, listed, options));
}
Simulator::Simulator(Simulator &&) noexcept = default;
Simulator &Simulator::operator=(Simulator &&) noexcept = default;
Simulator::~Simulator() = default;

Simulator Simulator::copy() const {
  Simulator other(std::make_unique<State>(*state));
  ownGrid(other.state->experiment);
  other.state->gridIsOwn = true;
  return other;
}

void Simulator::setRunOptions(const RunOptions &run) { state->everyRun = run; }

Engine Simulator::engine() const { return state->deciding().placement.engine(); }
const std::optional<std::string> &Simulator::fallbackReason() const {
  return state->deciding().placement.fallbackReason();
}
const std::optional<std::string> &Simulator::deviceFallbackReason() const {
  return state->deciding().placement.deviceFallbackReason();
}
const Experiment &Simulator::experiment() const { return state->experiment; }
const ListedPixels &Simulator::listed() const { return state->listed; }
const SimulatorTiming &Simulator::timing() const { return state->deciding().timing; }
std::array<std::int64_t, 3> Simulator::shape() const {
  const Detector &detector = state->experiment.detector;
  if (state->listed.any())
    return {1, 1, std::int64_t(state->pixels())};
  return {state->experiment.panelCount(), detector.slowPixels, detector.fastPixels};
}
std::size_t Simulator::pixels() const { return state->pixels(); }
double Simulator::samples() const {
  if (state->chain)
    return state->chain->photonSimulator().samples();
  return state->quadrature ? state->quadrature->samples() : samplesOf(state->experiment);
}
std::span<const std::uint8_t> Simulator::rendered() const { return state->renderedPixels(); }

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
  checkPossible(parameter.name, values.data(), std::int64_t(count));
  if (parameter.kind() == NB_PARAMETER_HKL_GRID && !state->gridIsOwn) {
    ownGrid(state->experiment);
    state->gridIsOwn = true;
    state->programs.clear(); // they are bound to the grid that others have too
  }
  for (std::size_t i = 0; i != count; ++i)
    element(state->experiment, parameter, i) = values[i];
  if (state->chain)
    state->chain->set(name, values);
  if (state->quadrature)
    state->quadrature->set(name, values);
}

void Simulator::setStructureFactors(const nb_hkl_grid &grid) {
  if (state->experiment.crystal.sheets)
    throw std::invalid_argument("this experiment has structure factors by energy, in the place of "
                                "which one list cannot be set; set the parameter F_by_energy");
  if (state->chain)
    state->chain->setStructureFactors(grid);
  if (state->quadrature)
    state->quadrature->setStructureFactors(grid);
  auto copy = std::make_shared<HklGrid>(copyOf(grid));
  Experiment &experiment = state->experiment;
  state->programs.clear(); // they are bound to the grid that was
  experiment.crystal.grid = std::move(copy);
  state->gridIsOwn = true;
  if (experiment.variant.structureFactors == StructureFactors::Constant) {
    // As nb-sim chooses where no flag says it.
    const bool thin = experiment.crystal.isThin();
    experiment.variant.structureFactors =
        thin ? StructureFactors::Tricubic : StructureFactors::Nearest;
  }
}

std::vector<DeadGradient> Simulator::deadGradients(std::string_view parameters) const {
  return nanobragg::deadGradients(state->experiment,
                                  resolveParameters(parameters, state->experiment.variant));
}

} // namespace nanobragg
