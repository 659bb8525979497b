#include "runtime/simulator/State.h"

#include "lib/Experiment/ParameterGroups.h"
#include "lib/IO/ImageRegion.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg {
namespace {

std::unique_ptr<ResponseChain> chainOf(const Experiment &experiment, const ListedPixels &listed,
                                       const SimulatorOptions &options) {
  if (experiment.variant.pointSpread == PointSpread::None)
    return nullptr;
  return std::make_unique<ResponseChain>(experiment, listed, options);
}

std::unique_ptr<Quadrature> quadratureOf(const Experiment &experiment, const ListedPixels &listed,
                                         const SimulatorOptions &options) {
  const ProgramVariant &v = experiment.variant;
  if (v.averaging != Averaging::Quadrature || v.pointSpread != PointSpread::None || v.lightGiven)
    return nullptr;
  return std::make_unique<Quadrature>(experiment, listed, options);
}

} // namespace

Simulator::State::State(const Experiment &given, const SimulatorOptions &options)
    : experiment(given),
      listed(options.pixels.empty() ? ListedPixels() : listPixels(experiment, options.pixels)),
      options(options), placement(options, options.once ? samplesOf(experiment) : 0),
      chain(chainOf(this->experiment, this->listed, this->options)),
      quadrature(quadratureOf(this->experiment, this->listed, this->options)) {}

Simulator::State::State(const State &other)
    : State(other.experiment, other.listed, other.options) {}

Simulator::State::State(const Experiment &given, const ListedPixels &listed,
                        const SimulatorOptions &options)
    : experiment(given), listed(listed), options(options),
      placement(options, options.once ? samplesOf(experiment) : 0),
      chain(chainOf(this->experiment, this->listed, this->options)),
      quadrature(quadratureOf(this->experiment, this->listed, this->options)) {}

KernelRequest Simulator::State::request(ImageType pixels, const Derivative &derivative) const {
  return decide(experiment, options, derivative, pixels).request;
}

BoundProgram &Simulator::State::program(ImageType pixels, const Derivative &derivative) {
  // The numbers of cells may have changed since, and with them the precision, what is left out and
  // what is compiled in.
  KernelRequest wanted = request(pixels, derivative);
  std::string key = derivative.toString() + (pixels == ImageType::F32 ? " f32 " : " f64 ") +
                    toString(wanted.precision) + " " + wanted.variant.cull.toString();
  for (const FixedCount &count : wanted.fixed)
    key += " " + count.toString();
  if (const auto found = programs.find(key); found != programs.end())
    return found->second;
  Program placed = placement.place(std::move(wanted));
  return programs.try_emplace(key, std::move(placed), experiment).first->second;
}

RunOptions Simulator::State::withThreads(RunOptions run) const {
  if (run.threads == 0)
    run.threads = options.threads;
  return run;
}

RunResult Simulator::State::counted(RunResult run) {
  if (!run.device.empty()) {
    timing.device = run.device;
    timing.launches += run.launches;
    timing.uploadedBytes += run.uploadedBytes;
    timing.deviceBytes = std::max(timing.deviceBytes, run.deviceBytes);
  }
  return run;
}

void Simulator::State::runDerivative(BoundProgram &program, const RunOptions &how, bool images) {
  ++timing.derivatives;
  const TimeAdded watch(timing.derivative);
  RunOptions run = withThreads(how);
  run.images = images;
  if (counted(program.run(run)).cancelled)
    throw Cancelled();
}

DerivativeSource::Names Simulator::State::namesOf(std::string_view parameters) const {
  return resolveParameters(parameters, experiment.variant);
}

const Parameter &Simulator::State::parameter(std::string_view name) const {
  const Parameter *found = findParameter(name);
  if (!found || !found->isUsedBy(experiment.variant))
    throw std::invalid_argument("this experiment has no parameter '" + std::string(name) + "'");
  return *found;
}

std::vector<double> Simulator::State::toCaller(std::span<const double> image) const {
  if (!listed.any())
    return {image.begin(), image.end()};
  std::vector<double> pixels(listed.places.size());
  toCaller(image, pixels);
  return pixels;
}

void Simulator::State::toCaller(std::span<const double> image, std::span<double> pixels) const {
  if (listed.any())
    listed.gather(image, pixels);
  else
    std::ranges::copy(image, pixels.begin());
}

std::span<const double> Simulator::State::fromCaller(std::span<const double> pixels) {
  if (!listed.any())
    return pixels;
  scattered = listed.scatter(pixels);
  return scattered;
}

std::span<const std::uint8_t> Simulator::State::renderedPixels() {
  if (rendered.empty())
    for (const std::size_t place : listed.places)
      rendered.push_back(place != ListedPixels::none);
  if (rendered.empty()) {
    const io::ImageRegion region = io::ImageRegion::of(experiment);
    const std::vector<std::uint8_t> &mask = experiment.detector.mask;
    rendered.resize(region.pixelCount());
    region.forEachPixel([&](std::size_t i) { rendered[i] = mask.empty() || mask[i]; });
  }
  return rendered;
}

} // namespace nanobragg
