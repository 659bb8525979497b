#include "runtime/simulator/ImageSource.h"

#include "lib/Program/ParameterElements.h"
#include "runtime/simulator/ProgramSource.h"
#include "runtime/simulator/QuadratureSource.h"
#include "runtime/simulator/ResponseSource.h"
#include "runtime/simulator/SpotSource.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace nanobragg {

std::size_t ImageSource::pixels() const {
  const ProgramSource &w = whole();
  return w.listed.any() ? w.listed.places.size() : std::size_t(w.experiment.pixelCount());
}

std::span<const double> ImageSource::value(const RunOptions &run) {
  lastValue.resize(pixels());
  if (render(std::span(lastValue), run, {}).cancelled)
    throw Cancelled();
  return lastValue;
}

std::string ImageSource::trace(const PixelIndex &pixel, ImageType pixels) const {
  return whole().trace(pixel, pixels);
}

EngineComparison ImageSource::compareEngines(const ComparisonOptions &options) {
  return whole().compare(options);
}

std::unique_ptr<ImageSource> makeSource(const Experiment &experiment, const ListedPixels &listed,
                                        const SimulatorOptions &options) {
  const ProgramVariant &v = experiment.variant;
  if (v.pointSpread != PointSpread::None)
    return std::make_unique<ResponseSource>(experiment, listed, options);
  if (v.averaging == Averaging::Quadrature && !v.lightGiven)
    return std::make_unique<QuadratureSource>(experiment, listed, options);
  std::string noSpots = SpotSource::refusal(experiment, options);
  if (noSpots.empty() && !v.lightGiven)
    return std::make_unique<SpotSource>(experiment, listed, options);
  auto source = std::make_unique<ProgramSource>(experiment, listed, options);
  source->noSpots = std::move(noSpots);
  return source;
}

std::unique_ptr<ImageSource> makeSource(Experiment experiment, const SimulatorOptions &options) {
  ListedPixels listed;
  if (!options.pixels.empty())
    listed = listPixels(experiment, options.pixels);
  return makeSource(experiment, listed, options);
}

ImageSource::Names namesUsedBy(const ProgramVariant &variant,
                               const ImageSource::Names &parameters) {
  ImageSource::Names names;
  std::ranges::copy_if(parameters, std::back_inserter(names), [&](const std::string &name) {
    return findParameter(name)->isUsedBy(variant);
  });
  return names;
}

std::vector<Direction> partOf(std::span<const Direction> direction,
                              const ImageSource::Names &parameters) {
  std::vector<Direction> part;
  std::ranges::copy_if(direction, std::back_inserter(part), [&](const Direction &d) {
    return std::ranges::find(parameters, d.parameter) != parameters.end();
  });
  return part;
}

std::vector<Gradient> zeroGradients(const Experiment &experiment,
                                    const ImageSource::Names &parameters) {
  std::vector<Gradient> gradients;
  for (const std::string &name : parameters) {
    const Parameter &parameter = *findParameter(name);
    gradients.push_back(
        {name, parameter.unit, std::vector<double>(elementCount(experiment, parameter))});
  }
  return gradients;
}

std::span<const double> onHost(const ImageSource::Cotangent &cotangent) {
  if (const auto *numbers = std::get_if<std::span<const double>>(&cotangent))
    return *numbers;
  throw std::invalid_argument(
      "this image is completed on the host (a list of pixels, point spread or a quadrature), so "
      "its cotangent cannot be in GPU memory; give an array of the host");
}

RunOptions withThreads(RunOptions run, const SimulatorOptions &options) {
  if (run.threads == 0)
    run.threads = options.threads;
  return run;
}

RunOptions withoutProgress(RunOptions run) {
  run.progress = {};
  return run;
}

std::vector<std::span<double>> spansOf(std::vector<std::vector<double>> &images) {
  return {images.begin(), images.end()};
}

} // namespace nanobragg
