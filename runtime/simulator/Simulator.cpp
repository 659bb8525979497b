#include "nanobragg/Simulator.h"

#include "lib/Images/ImageRegion.h"
#include "lib/Program/DeadGradients.h"
#include "lib/Program/ParameterElements.h"
#include "lib/Program/ParameterGroups.h"
#include "lib/Program/PossibleValues.h"
#include "runtime/simulator/State.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace nanobragg {
namespace {

HklGrid copyOfGrid(const nb_hkl_grid &grid) {
  constexpr std::int64_t most = 1 << 20;
  std::int64_t size = 1;
  for (auto [least, greatest] :
       {std::pair(grid.h_min, grid.h_max), {grid.k_min, grid.k_max}, {grid.l_min, grid.l_max}}) {
    if (least > greatest || least < -most || greatest > most ||
        size > mostGridNodes / (greatest - least + 1))
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

ImageType typeOf(PixelType pixels) {
  return pixels == PixelType::F32 ? ImageType::F32 : ImageType::F64;
}

} // namespace

ImageSource::Names Simulator::State::namesOf(std::string_view parameters) const {
  return resolveParameters(parameters, experiment().variant);
}

const Parameter &Simulator::State::parameter(std::string_view name) const {
  const Parameter *found = findParameter(name);
  if (!found || !found->isUsedBy(experiment().variant))
    throw std::invalid_argument("this experiment has no parameter '" + std::string(name) + "'");
  return *found;
}

void Simulator::State::requirePixels(std::size_t numbers) const {
  if (numbers != source->pixels())
    throw std::invalid_argument("the image holds " + std::to_string(numbers) +
                                " pixels but the experiment has " +
                                std::to_string(source->pixels()));
}

//===----------------------------------------------------------------------===//
// The experiment
//===----------------------------------------------------------------------===//

Simulator::Simulator(const Experiment &experiment, const SimulatorOptions &options)
    : Simulator(std::make_unique<State>(makeSource(experiment, options))) {}
Simulator::Simulator(std::unique_ptr<State> state) : state(std::move(state)) {}
Simulator Simulator::ofListed(const Experiment &experiment, const ListedPixels &listed,
                              const SimulatorOptions &options) {
  listed.requireImageOf(experiment);
  listed.requireSize(options.pixels.size());
  return Simulator(std::make_unique<State>(makeSource(experiment, listed, options)));
}
Simulator::Simulator(Simulator &&) noexcept = default;
Simulator &Simulator::operator=(Simulator &&) noexcept = default;
Simulator::~Simulator() = default;

Simulator Simulator::copy() const {
  const SimulatorOptions &options = state->source->whole().options;
  return Simulator(
      std::make_unique<State>(makeSource(state->experiment(), state->listed(), options)));
}

void Simulator::setRunOptions(const RunOptions &run) { state->everyRun = run; }

Engine Simulator::engine() const { return state->source->deciding().placement.engine(); }
const std::optional<std::string> &Simulator::fallbackReason() const {
  return state->source->deciding().placement.fallbackReason();
}
const std::optional<std::string> &Simulator::deviceFallbackReason() const {
  return state->source->deciding().placement.deviceFallbackReason();
}
const Experiment &Simulator::experiment() const { return state->experiment(); }
const ListedPixels &Simulator::listed() const { return state->listed(); }
const SimulatorTiming &Simulator::timing() const { return state->source->deciding().timing; }
std::string Simulator::averages() const { return state->source->averages(); }
std::array<std::int64_t, 3> Simulator::shape() const {
  const Experiment &experiment = state->experiment();
  if (state->listed().any())
    return {1, 1, std::int64_t(pixels())};
  return {experiment.panelCount(), experiment.detector.slowPixels, experiment.detector.fastPixels};
}
std::size_t Simulator::pixels() const { return state->source->pixels(); }
double Simulator::samples() const { return state->source->samples(); }

std::span<const std::uint8_t> Simulator::rendered() const {
  std::vector<std::uint8_t> &rendered = state->rendered;
  if (rendered.empty())
    for (const std::size_t place : state->listed().places)
      rendered.push_back(place != ListedPixels::none);
  if (rendered.empty()) {
    const io::ImageRegion region = io::ImageRegion::of(state->experiment());
    const std::vector<std::uint8_t> &mask = state->experiment().detector.mask;
    rendered.resize(region.pixelCount());
    region.forEachPixel([&](std::size_t i) { rendered[i] = mask.empty() || mask[i]; });
  }
  return rendered;
}

std::vector<double> Simulator::get(std::string_view name) const {
  const Parameter &parameter = state->parameter(name);
  std::vector<double> values(elementCount(state->experiment(), parameter));
  for (std::size_t i = 0; i != values.size(); ++i)
    values[i] = element(state->experiment(), parameter, i);
  return values;
}

void Simulator::set(std::string_view name, double value) { set(name, std::span(&value, 1)); }

void Simulator::set(std::string_view name, std::span<const double> values) {
  checkPossible(std::string(name), values.data(), std::int64_t(values.size()));
  setBeyondRange(name, values);
}

void Simulator::setBeyondRange(std::string_view name, std::span<const double> values) {
  const Parameter &parameter = state->parameter(name);
  const std::size_t count = elementCount(state->experiment(), parameter);
  if (values.size() != count || count == 0)
    throw std::invalid_argument("parameter '" + std::string(name) + "' is given " +
                                std::to_string(values.size()) + " numbers and has " +
                                std::to_string(count));
  state->source->set(parameter, values);
}

void Simulator::setStructureFactors(const nb_hkl_grid &grid) {
  if (state->experiment().crystal.sheets)
    throw std::invalid_argument("the structure factors of this experiment depend on the energy, "
                                "and one list cannot replace them; set the parameter F_by_energy");
  state->source->setStructureFactors(std::make_shared<HklGrid>(copyOfGrid(grid)));
}

std::vector<DeadGradient> Simulator::deadGradients(std::string_view parameters) const {
  return nanobragg::deadGradients(state->experiment(), state->namesOf(parameters));
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

void Simulator::prepare(PixelType pixels) { state->source->program(typeOf(pixels)); }

std::string Simulator::target(PixelType pixels) {
  return state->source->program(typeOf(pixels)).descriptor().target;
}

RunResult Simulator::render(std::span<float> image, const RunOptions &run,
                            const Instruments &look) {
  state->requirePixels(image.size());
  return state->source->render(image, run, look);
}

RunResult Simulator::render(std::span<double> image, const RunOptions &run,
                            const Instruments &look) {
  state->requirePixels(image.size());
  return state->source->render(image, run, look);
}

std::optional<DeviceMemory> Simulator::imageOnDevice(PixelType pixels, const RunOptions &run) {
  return state->source->imageOnDevice(typeOf(pixels), run);
}

std::string Simulator::trace(const PixelIndex &pixel, PixelType pixels) {
  return state->source->trace(pixel, typeOf(pixels));
}

std::string Simulator::emit(const std::string &stage, PixelType pixels) {
  return state->source->whole().emit(stage, typeOf(pixels));
}

EngineComparison Simulator::compareEngines(const ComparisonOptions &options) {
  return state->source->compareEngines(options);
}

std::span<const double> Simulator::value() { return state->source->value(state->everyRun); }

std::span<const double> Simulator::photons() const { return state->source->photons(); }

double Simulator::loss(const Loss &loss) { return loss.evaluate(value(), rendered(), {}); }

} // namespace nanobragg
