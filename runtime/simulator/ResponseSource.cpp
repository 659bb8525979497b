#include "runtime/simulator/ResponseSource.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Noise/Photons.h"
#include "runtime/simulator/Invariants.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nanobragg {
namespace {

using Mode = Derivative::Mode;

std::optional<SpreadList> listOf(const ProgramSource &all) {
  if (!all.listed.any())
    return std::nullopt;
  return SpreadList(all.experiment, all.listed, all.options.pixels);
}

std::unique_ptr<ImageSource> sourceOfPhotons(const ProgramSource &all,
                                             const std::optional<SpreadList> &list) {
  SimulatorOptions options = all.options;
  if (list)
    options.pixels = list->sources();
  return makeSource(photonsOf(all.experiment), options);
}

/// The light is on the processor, and what is made of it costs little.
SimulatorOptions optionsBehind(const SimulatorOptions &given) {
  SimulatorOptions options;
  options.engine = given.engine;
  options.threads = given.threads;
  options.kernels = given.kernels;
  options.pixels = given.pixels;
  options.device = "cpu";
  options.cull = CullSetting::off();
  options.keptSchedule = false;
  return options;
}

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(std::vector<double> &to, std::span<const double> more, double times = 1) {
  for (std::size_t i = 0; i != more.size(); ++i)
    to[i] += times * more[i];
}

bool has(const std::vector<std::string> &names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool sourceTakes(const ImageSource &source, std::string_view parameter) {
  return findParameter(parameter)->isUsedBy(source.whole().experiment.variant);
}

/// Gradients of the two programs, in the order of the names; those of neither have a number that is
/// 0 yet.
std::vector<Gradient> joined(const std::vector<std::string> &parameters,
                             std::initializer_list<std::vector<Gradient>> parts) {
  std::vector<Gradient> all;
  for (const std::string &name : parameters) {
    all.push_back({name, findParameter(name)->unit, {0.0}});
    for (const std::vector<Gradient> &part : parts)
      if (const auto found = std::ranges::find(part, name, &Gradient::parameter);
          found != part.end())
        all.back().values = found->values;
  }
  return all;
}

const std::vector<double> &valuesOf(const std::vector<Gradient> &all, std::string_view name) {
  return std::ranges::find(all, name, &Gradient::parameter)->values;
}

/// The comparison of photons with that of what the runtime and the program make of them.
EngineComparison withSpread(EngineComparison photons, std::span<const double> image,
                            std::span<const double> reference,
                            const ProgramSource::Tolerance &tolerance) {
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
  const std::string text =
      formatted("point spread: largest difference %.3e, %zu pixels are beyond the tolerance\n",
                largest, beyond);
  return {photons.differ || beyond > 0, "photons: " + photons.report + text};
}

} // namespace

ResponseSource::ResponseSource(const Experiment &experiment, const ListedPixels &listed,
                               const SimulatorOptions &options)
    : all(experiment, listed, options), list(listOf(all)), before(sourceOfPhotons(all, list)),
      behind(behindLight(experiment), listed, optionsBehind(options)) {}

bool ResponseSource::isInProgram() const {
  const Experiment &e = all.experiment;
  return !e.variant.pixelList && !hasSmallPanels(e.detector) &&
         e.variant.averaging != Averaging::Quadrature;
}

bool ResponseSource::derivesWhole() const {
  return all.options.engine == Engine::Interpreter && isInProgram();
}

void ResponseSource::set(const Parameter &parameter, std::span<const double> values) {
  all.set(parameter, values);
  for (ImageSource *source : {before.get(), static_cast<ImageSource *>(&behind)})
    if (sourceTakes(*source, parameter.name))
      source->set(parameter, values);
  made.clear();
}

void ResponseSource::setStructureFactors(const std::shared_ptr<const HklGrid> &grid) {
  all.setStructureFactors(grid);
  before->setStructureFactors(grid);
  made.clear();
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

ResponseSource::Width ResponseSource::width() const {
  const double pixel = all.experiment.detector.pixelSize,
               w = all.experiment.detector.psfFwhm / pixel;
  const double mixed = -1 / (pixel * pixel);
  return {w, {1 / pixel, -w / pixel}, {{{0, mixed}, {mixed, 2 * w / (pixel * pixel)}}}};
}

PointSpreadFunction ResponseSource::function(int order) const {
  const Detector &d = all.experiment.detector;
  const std::int64_t edge =
      list ? std::max(d.wholeFastPixels, d.wholeSlowPixels) : std::max(d.fastPixels, d.slowPixels);
  return {all.experiment.variant.pointSpread, width().value, d.psfRadius, order, edge};
}

ResponseSource::Pixels ResponseSource::spread(std::span<const double> photons, int order) const {
  if (list)
    return all.listed.scatter(list->gather(function(order), photons, all.options.threads));
  Pixels result(photons.size());
  function(order).apply(photons, all.experiment.detector.slowPixels,
                        all.experiment.detector.fastPixels, result, all.options.threads);
  return result;
}

ResponseSource::Pixels ResponseSource::collect(std::span<const double> light, int order) const {
  if (!list)
    return spread(light, order);
  Pixels pixels(all.listed.places.size());
  all.listed.gather(light, std::span(pixels));
  return list->scatter(function(order), pixels, all.options.threads);
}

void ResponseSource::light() {
  const std::span<const double> from = photons();
  const Pixels to = spread(from, 0);
  const Detector &d = all.experiment.detector;
  if (checksImages() && !list)
    checkSpread(from, to, d.slowPixels, d.fastPixels, function(0).radius());
  std::ranges::copy(to, behind.experiment.detector.light.values.begin());
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

std::span<const double> ResponseSource::photons() {
  if (made.empty()) {
    Pixels photons(before->pixels());
    if (before->render(std::span(photons), {}, {}).cancelled)
      throw Cancelled();
    made = std::move(photons);
  }
  return made;
}

RunResult ResponseSource::render(CallersImage image, const RunOptions &run,
                                 const Instruments &look) {
  if (look.any() && isInProgram())
    return all.render(image, run, look);
  made.resize(before->pixels());
  RunResult result = before->render(std::span(made), run, look);
  if (result.cancelled) {
    made.clear();
    return result;
  }
  light();
  std::visit([&](auto to) { std::ranges::copy(behind.value({}), to.begin()); }, image);
  return result;
}

std::string ResponseSource::trace(const PixelIndex &pixel, ImageType pixels) const {
  return isInProgram() ? all.trace(pixel, pixels) : before->trace(pixel, pixels);
}

EngineComparison ResponseSource::compareEngines(const ComparisonOptions &options) {
  const EngineComparison photons = before->compareEngines(options);
  if (!isInProgram())
    return photons;
  Pixels image(pixels()), reference(pixels());
  render(std::span(image), {}, {});
  all.interpreted(ImageType::F64).run(std::span(reference), {.threads = all.options.threads});
  return withSpread(photons, image, reference, all.toleranceOf(options));
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

ImageSource::Names ResponseSource::namesBefore(const Names &parameters) const {
  return namesUsedBy(before->whole().experiment.variant, parameters);
}

ImageSource::Names ResponseSource::namesBehind(const Names &parameters) const {
  Names names;
  for (const Parameter *parameter : parametersOf(behind.experiment.variant))
    if (parameter->name == std::string_view("light") ||
        (has(parameters, parameter->name) && !sourceTakes(*before, parameter->name)))
      names.push_back(parameter->name);
  return names;
}

std::vector<Direction> ResponseSource::ofPhotons(std::span<const Direction> direction) const {
  std::vector<Direction> part;
  for (const Direction &d : direction)
    if (sourceTakes(*before, d.parameter))
      part.push_back(d);
  return part;
}

ResponseSource::Change ResponseSource::changeAlong(std::span<const Direction> direction,
                                                   std::span<const double> photons) {
  Change change;
  for (const Direction &d : direction) {
    if (sourceTakes(behind, d.parameter) && !sourceTakes(*before, d.parameter))
      change.behind.push_back(d);
    for (std::size_t i = 0; i != numbers.size(); ++i)
      if (d.parameter == numbers[i])
        change.numbers[i] += d.values.at(0);
  }
  change.width = product(width().slope, change.numbers);
  Pixels light(behind.experiment.detector.light.values.size());
  if (!photons.empty())
    add(light, spread(photons, 0));
  if (change.width != 0)
    add(light, spread(this->photons(), 1), change.width);
  change.behind.push_back({"light", std::move(light)});
  return change;
}

void ResponseSource::forward(const Derivative &derivative, Directions directions, Images images,
                             const RunOptions &run) {
  if (derivesWhole())
    return all.forward(derivative, directions, images, run);
  std::vector<std::vector<Direction>> units;
  const bool ofNumbers = derivative.mode == Mode::Jacobian;
  if (ofNumbers)
    for (const std::string &name : derivative.parameters)
      units.push_back({{name, {1.0}}});
  const Directions changes = ofNumbers ? Directions(units) : directions;
  light();

  // Where the change of the photons along each of them goes; empty: there is none.
  std::vector<Pixels> photons(images.size());
  std::vector<std::span<double>> moved;
  std::vector<std::vector<Direction>> moving;
  for (std::size_t i = 0; i != changes.size(); ++i) {
    std::vector<Direction> part = ofPhotons(changes[i]);
    if (part.empty())
      continue;
    moving.push_back(std::move(part));
    if (i < images.size()) {
      photons[i].resize(before->pixels());
      moved.push_back(photons[i]);
    }
  }
  if (!moved.empty())
    before->forward(
        {derivative.mode, namesBefore(derivative.parameters), ofNumbers ? 1 : int(moving.size())},
        ofNumbers ? Directions() : Directions(moving), moved, withoutProgress(run));
  for (std::size_t i = 0; i != images.size(); ++i) {
    const std::vector<Direction> change[] = {changeAlong(changes[i], photons[i]).behind};
    const std::span<double> image[] = {images[i]};
    behind.forward({Mode::JVP, namesBehind(derivative.parameters)}, change, image,
                   withoutProgress(run));
  }
}

std::vector<Gradient> ResponseSource::reverse(const Derivative &derivative,
                                              const Cotangent &cotangent,
                                              std::span<const Direction> direction,
                                              const RunOptions &given) {
  if (derivesWhole())
    return all.reverse(derivative, cotangent, direction, given);
  onHost(cotangent);
  const RunOptions run = withoutProgress(given);
  const Names &parameters = derivative.parameters;
  const Names namesOfPhotons = namesBefore(parameters), namesOfRest = namesBehind(parameters);
  const bool second = derivative.mode == Mode::HVP;
  light();

  const std::vector<Direction> photonDirection = ofPhotons(direction);
  Pixels photonChange;
  if (!photonDirection.empty()) {
    photonChange.resize(before->pixels());
    const std::span<double> image[] = {photonChange};
    const std::vector<Direction> one[] = {photonDirection};
    before->forward({Mode::JVP, namesOfPhotons}, one, image, run);
  }
  const Change change = second ? changeAlong(direction, photonChange) : Change();

  const Derivative gradientBehind{Mode::VJP, namesOfRest};
  std::vector<Gradient> ofBehind = behind.reverse(gradientBehind, cotangent, {}, run);
  const Pixels ofLight = valuesOf(ofBehind, "light");
  if (second)
    ofBehind = behind.reverse({Mode::HVP, namesOfRest}, cotangent, change.behind, run);
  std::vector<Gradient> ofPhotons;
  if (!namesOfPhotons.empty()) {
    ofPhotons = before->reverse({derivative.mode, namesOfPhotons}, collect(ofLight, 0),
                                photonDirection, run);
    if (second) {
      // Beside the photons' own second derivative their first, by how their cotangent changes.
      Pixels changeOfCotangent = collect(valuesOf(ofBehind, "light"), 0);
      add(changeOfCotangent, collect(ofLight, 1), change.width);
      const auto more = before->reverse({Mode::VJP, namesOfPhotons}, changeOfCotangent, {}, run);
      for (std::size_t i = 0; i != ofPhotons.size(); ++i)
        add(ofPhotons[i].values, more[i].values);
    }
  }
  std::vector<Gradient> gradients = joined(parameters, {ofBehind, ofPhotons});
  if (!std::ranges::any_of(numbers, [&](const char *number) { return has(parameters, number); }))
    return gradients;

  // The slope of the loss with respect to the width, and how that changes.
  const Pixels byWidth = spread(photons(), 1);
  const double slope = product(ofLight, byWidth);
  const Width w = width();
  std::array<double, 2> more = {slope * w.slope[0], slope * w.slope[1]};
  if (second) {
    double bend = product(valuesOf(ofBehind, "light"), byWidth) +
                  change.width * product(ofLight, spread(photons(), 2));
    if (!photonChange.empty())
      bend += product(ofLight, spread(photonChange, 1));
    for (std::size_t i = 0; i != numbers.size(); ++i)
      more[i] = bend * w.slope[i] + slope * product(w.curvature[i], change.numbers);
  }
  for (Gradient &gradient : gradients)
    for (std::size_t i = 0; i != numbers.size(); ++i)
      if (gradient.parameter == numbers[i])
        gradient.values[0] += more[i];
  return gradients;
}

} // namespace nanobragg
