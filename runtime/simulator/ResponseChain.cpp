#include "runtime/simulator/ResponseChain.h"

#include "lib/Experiment/Parameters.h"
#include "lib/Experiment/Photons.h"
#include "runtime/simulator/State.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace nanobragg {
namespace {

std::optional<SpreadList> listOf(const Experiment &experiment, const ListedPixels &listed,
                                 const SimulatorOptions &options) {
  if (!listed.any())
    return std::nullopt;
  return SpreadList(experiment, listed, options.pixels);
}

SimulatorOptions withPixels(SimulatorOptions options, const std::optional<SpreadList> &list) {
  if (list)
    options.pixels = list->sources();
  return options;
}

/// The light is on the processor, and what is made of it costs little.
Simulator simulatorBehind(const Experiment &experiment, const ListedPixels &listed,
                          const SimulatorOptions &given) {
  SimulatorOptions options;
  options.engine = given.engine;
  options.threads = given.threads;
  options.kernels = given.kernels;
  options.pixels = given.pixels;
  options.device = "cpu";
  options.cull = CullSetting::off();
  options.keptSchedule = false;
  const Experiment behind = behindLight(experiment);
  return listed.any() ? Simulator::ofListed(behind, listed, options) : Simulator(behind, options);
}

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(std::vector<double> &to, std::span<const double> more, double times = 1) {
  for (std::size_t i = 0; i != more.size(); ++i)
    to[i] += times * more[i];
}

bool takes(const Simulator &simulator, std::string_view parameter) {
  return findParameter(parameter)->isUsedBy(simulator.experiment().variant);
}

/// Those that the program takes, with commas between.
std::string namesOf(const Simulator &simulator, const std::vector<std::string> &parameters) {
  std::string list;
  for (const std::string &name : parameters)
    if (takes(simulator, name))
      list += (list.empty() ? "" : ",") + name;
  return list;
}

} // namespace

ResponseChain::ResponseChain(const Experiment &experiment, const ListedPixels &listed,
                             const SimulatorOptions &options)
    : experiment(experiment), listed(listed), threads(options.threads),
      list(listOf(experiment, listed, options)),
      before(photonsOf(experiment), withPixels(options, list)),
      behind(simulatorBehind(experiment, listed, options)) {}

bool ResponseChain::isInProgram(const Experiment &experiment) {
  return !experiment.variant.pixelList && !hasSmallPanels(experiment.detector) &&
         experiment.variant.averaging != Averaging::Quadrature;
}

void ResponseChain::set(std::string_view name, std::span<const double> values) {
  for (Simulator *simulator : {&before, &behind})
    if (takes(*simulator, name))
      simulator->set(name, values);
  made.clear();
}

void ResponseChain::setStructureFactors(const nb_hkl_grid &grid) {
  before.setStructureFactors(grid);
  made.clear();
}

std::span<const double> ResponseChain::photons() {
  if (made.empty()) {
    Pixels photons(before.pixels());
    if (before.render(std::span(photons)).cancelled)
      throw Cancelled();
    made = std::move(photons);
  }
  return made;
}

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

ResponseChain::Width ResponseChain::width() const {
  const double pixel = experiment.detector.pixelSize, w = experiment.detector.psfFwhm / pixel;
  const double mixed = -1 / (pixel * pixel);
  return {w, {1 / pixel, -w / pixel}, {{{0, mixed}, {mixed, 2 * w / (pixel * pixel)}}}};
}

PointSpreadFunction ResponseChain::function(int order) const {
  const Detector &d = experiment.detector;
  const std::int64_t edge =
      list ? std::max(d.wholeFastPixels, d.wholeSlowPixels) : std::max(d.fastPixels, d.slowPixels);
  return {experiment.variant.pointSpread, width().value, d.psfRadius, order, edge};
}

ResponseChain::Pixels ResponseChain::spread(std::span<const double> photons, int order) const {
  if (list)
    return listed.scatter(list->gather(function(order), photons, threads));
  Pixels result(photons.size());
  function(order).apply(photons, experiment.detector.slowPixels, experiment.detector.fastPixels,
                        result, threads);
  return result;
}

ResponseChain::Pixels ResponseChain::collect(std::span<const double> light, int order) const {
  if (!list)
    return spread(light, order);
  Pixels pixels(listed.places.size());
  listed.gather(light, std::span(pixels));
  return list->scatter(function(order), pixels, threads);
}

void ResponseChain::light() {
  const std::span<const double> from = photons();
  const Pixels to = spread(from, 0);
  const Detector &d = experiment.detector;
  if (checksImages() && !list)
    checkSpread(from, to, d.slowPixels, d.fastPixels, function(0).radius());
  std::ranges::copy(to, behind.state->experiment.detector.light.values.begin());
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

template <typename T>
RunResult ResponseChain::render(std::span<T> image, const RunOptions &run,
                                const Instruments *look) {
  if (image.size() != behind.pixels())
    throw std::invalid_argument("the image holds " + std::to_string(image.size()) +
                                " pixels but the experiment has " +
                                std::to_string(behind.pixels()));
  made.resize(before.pixels());
  RunResult result =
      look ? before.render(std::span(made), run, *look) : before.render(std::span(made), run);
  if (result.cancelled) {
    made.clear();
    return result;
  }
  light();
  std::ranges::copy(behind.value(), image.begin());
  return result;
}
template RunResult ResponseChain::render(std::span<float>, const RunOptions &, const Instruments *);
template RunResult ResponseChain::render(std::span<double>, const RunOptions &,
                                         const Instruments *);

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

ResponseChain::Change ResponseChain::changeAlong(const Names &parameters,
                                                 std::span<const Direction> direction) {
  std::vector<Direction> ofPhotons;
  for (const Direction &d : direction)
    if (takes(before, d.parameter))
      ofPhotons.push_back(d);
  Pixels photons;
  if (!ofPhotons.empty())
    photons = before.jvp(namesOf(before, parameters), ofPhotons);
  Change change = changeWith(direction, std::move(photons));
  change.ofPhotons = std::move(ofPhotons);
  return change;
}

ResponseChain::Change ResponseChain::changeWith(std::span<const Direction> direction,
                                                Pixels photons) {
  Change change{};
  for (const Direction &d : direction) {
    if (takes(behind, d.parameter) && !takes(before, d.parameter))
      change.behind.push_back(d);
    for (std::size_t i = 0; i != numbers.size(); ++i)
      if (d.parameter == numbers[i])
        change.numbers[i] += d.values.at(0);
  }
  const Width w = width();
  change.width = product(w.slope, change.numbers);
  Pixels light(behind.experiment().detector.light.values.size());
  if (!photons.empty())
    add(light, spread(photons, 0));
  if (change.width != 0)
    add(light, spread(this->photons(), 1), change.width);
  change.photons = std::move(photons);
  change.behind.push_back({"light", std::move(light)});
  return change;
}

std::string ResponseChain::namesBehind(const Names &parameters) const {
  std::string names = "light";
  for (const std::string &name : parameters)
    if (takes(behind, name) && !takes(before, name))
      names += "," + name;
  return names;
}

ResponseChain::Pixels ResponseChain::tangent(const Names &parameters, const Change &change) {
  return behind.jvp(namesBehind(parameters), change.behind);
}

void ResponseChain::jvps(const Names &parameters, Directions directions, Images images) {
  light();
  for (std::size_t i = 0; i != images.size(); ++i)
    std::ranges::copy(tangent(parameters, changeAlong(parameters, directions[i])),
                      images[i].begin());
}

std::vector<DerivativeImage> ResponseChain::jacobian(const Names &parameters) {
  std::vector<DerivativeImage> known, all;
  if (const std::string names = namesOf(before, parameters); !names.empty())
    known = before.jacobian(names);
  light();
  for (const std::string &name : parameters) {
    const auto found = std::ranges::find(known, name, &DerivativeImage::parameter);
    const Direction unit[] = {{name, {1.0}}};
    const Change change =
        changeWith(unit, found != known.end() ? std::move(found->pixels) : Pixels());
    all.push_back({name, findParameter(name)->unit, tangent(parameters, change)});
  }
  return all;
}

/// Gradients of the two programs, in the order of the names; those of neither have a number that is
/// 0 yet.
static std::vector<Gradient> joined(const std::vector<std::string> &parameters,
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

static const std::vector<double> &valuesOf(const std::vector<Gradient> &all,
                                           std::string_view name) {
  return std::ranges::find(all, name, &Gradient::parameter)->values;
}

void ResponseChain::addByNumbers(std::vector<Gradient> &gradients,
                                 const std::array<double, 2> &more) const {
  for (std::size_t i = 0; i != numbers.size(); ++i)
    for (Gradient &gradient : gradients)
      if (gradient.parameter == numbers[i])
        gradient.values[0] += more[i];
}

bool ResponseChain::hasNumbers(const Names &parameters) const {
  return std::ranges::any_of(numbers, [&](std::string_view number) {
    return std::ranges::find(parameters, number) != parameters.end();
  });
}

std::vector<Gradient> ResponseChain::gradient(const Names &parameters,
                                              std::span<const double> cotangent) {
  light();
  const std::vector<Gradient> ofBehind = behind.gradient(namesBehind(parameters), cotangent);
  const Pixels &ofLight = valuesOf(ofBehind, "light");
  std::vector<Gradient> ofPhotons;
  if (const std::string names = namesOf(before, parameters); !names.empty())
    ofPhotons = before.gradient(names, collect(ofLight, 0));
  std::vector<Gradient> all = joined(parameters, {ofBehind, ofPhotons});
  if (hasNumbers(parameters)) {
    const double slope = product(ofLight, spread(photons(), 1));
    const Width w = width();
    addByNumbers(all, {slope * w.slope[0], slope * w.slope[1]});
  }
  return all;
}

std::vector<Gradient> ResponseChain::hvp(const Names &parameters,
                                         std::span<const Direction> direction,
                                         std::span<const double> cotangent) {
  light();
  const Change change = changeAlong(parameters, direction);
  const std::string namesOfBehind = namesBehind(parameters);
  const Pixels ofLight = valuesOf(behind.gradient(namesOfBehind, cotangent), "light");
  const std::vector<Gradient> ofBehind = behind.hvp(namesOfBehind, change.behind, cotangent);
  const Pixels &changeOfLight = valuesOf(ofBehind, "light");
  std::vector<Gradient> ofPhotons;
  if (const std::string names = namesOf(before, parameters); !names.empty()) {
    // The photons' own second derivative, and their first by how their cotangent changes.
    ofPhotons = before.hvp(names, change.ofPhotons, collect(ofLight, 0));
    Pixels changeOfPhotons = collect(changeOfLight, 0);
    add(changeOfPhotons, collect(ofLight, 1), change.width);
    const std::vector<Gradient> more = before.gradient(names, changeOfPhotons);
    for (std::size_t i = 0; i != ofPhotons.size(); ++i)
      add(ofPhotons[i].values, more[i].values);
  }
  std::vector<Gradient> all = joined(parameters, {ofBehind, ofPhotons});
  if (!hasNumbers(parameters))
    return all;
  // The slope of the loss by the width, and how that changes.
  const Pixels byWidth = spread(photons(), 1);
  const double slope = product(ofLight, byWidth);
  double bend =
      product(changeOfLight, byWidth) + change.width * product(ofLight, spread(photons(), 2));
  if (!change.photons.empty())
    bend += product(ofLight, spread(change.photons, 1));
  const Width w = width();
  std::array<double, 2> more;
  for (std::size_t i = 0; i != numbers.size(); ++i)
    more[i] = bend * w.slope[i] + slope * product(w.curvature[i], change.numbers);
  addByNumbers(all, more);
  return all;
}

} // namespace nanobragg
