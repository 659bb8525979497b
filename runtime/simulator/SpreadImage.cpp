#include "runtime/simulator/SpreadImage.h"

#include "lib/Experiment/ParameterElements.h"
#include "lib/Experiment/Photons.h"

#include <algorithm>
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

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i != a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

void add(std::vector<double> &to, std::span<const double> more, double times = 1) {
  for (std::size_t i = 0; i != to.size(); ++i)
    to[i] += times * more[i];
}

bool has(const std::vector<std::string> &names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Those that a program of photons has, with commas between.
std::string photonNames(const std::vector<std::string> &parameters) {
  std::string list;
  for (const std::string &name : parameters)
    if (SpreadImage::isOfPhotons(name))
      list += (list.empty() ? "" : ",") + name;
  return list;
}

std::vector<Direction> photonDirection(std::span<const Direction> direction) {
  std::vector<Direction> some;
  for (const Direction &d : direction)
    if (SpreadImage::isOfPhotons(d.parameter))
      some.push_back(d);
  return some;
}

Gradient &find(std::vector<Gradient> &all, std::string_view name) {
  return *std::ranges::find(all, name, &Gradient::parameter);
}

/// In the parameters' order, with zero where nothing is known yet.
std::vector<Gradient> inOrder(const std::vector<std::string> &parameters,
                              std::vector<Gradient> known) {
  std::vector<Gradient> all;
  for (const std::string &name : parameters) {
    const auto found = std::ranges::find(known, name, &Gradient::parameter);
    all.push_back(found != known.end() ? std::move(*found)
                                       : Gradient{name, findParameter(name)->unit, {0.0}});
  }
  return all;
}

} // namespace

SpreadImage::SpreadImage(const Experiment &experiment, const ListedPixels &listed,
                         const SimulatorOptions &options)
    : experiment(experiment), listed(listed), threads(options.threads),
      list(listOf(experiment, listed, options)),
      simulator(photonsOf(experiment), withPixels(options, list)) {}

bool SpreadImage::isOfPhotons(std::string_view parameter) {
  return parameter != "gain" && parameter != "gain_map" && parameter != "psf_fwhm" &&
         parameter != "psf_radius";
}

bool SpreadImage::isInProgram(const Experiment &experiment) {
  return !experiment.variant.pixelList && !hasSmallPanels(experiment.detector);
}

std::span<const double> SpreadImage::photons() {
  if (light.empty())
    renderPhotons();
  return light;
}

double SpreadImage::width() const {
  return experiment.detector.psfFwhm / experiment.detector.pixelSize;
}

PointSpreadFunction SpreadImage::function(int order) const {
  return {experiment.variant.pointSpread, width(), experiment.detector.psfRadius, order};
}

std::size_t SpreadImage::pixels() const {
  return list ? listed.places.size() : std::size_t(experiment.pixelCount());
}

SpreadImage::Pixels SpreadImage::spread(std::span<const double> light, int order) const {
  if (list)
    return list->gather(function(order), light, threads);
  Pixels result(light.size());
  function(order).apply(light, experiment.detector.slowPixels, experiment.detector.fastPixels,
                        result, threads);
  return result;
}

SpreadImage::Pixels SpreadImage::collect(std::span<const double> pixels, int order) const {
  return list ? list->scatter(function(order), pixels, threads) : spread(pixels, order);
}

/// Times the gain and that of each pixel; nothing where no pixel is rendered.
SpreadImage::Pixels SpreadImage::gained(std::span<const double> image, double gain) const {
  const PixelMap &map = experiment.detector.gainMap;
  Pixels result(image.size());
  for (std::size_t i = 0; i != image.size(); ++i)
    if (rendered[i])
      result[i] =
          image[i] *
          (experiment.variant.gainMap ? gain * map.values[list ? listed.places[i] : i] : gain);
  return result;
}

SpreadImage::Pixels SpreadImage::respond(std::span<const double> photons, int order,
                                         double gain) const {
  return gained(spread(photons, order), gain);
}

void SpreadImage::renderPhotons(const RunOptions &run) {
  light.resize(simulator.pixels());
  if (simulator.render(std::span(light), run).cancelled)
    throw Cancelled();
}

RunResult SpreadImage::render(std::span<double> image, const RunOptions &run,
                              const Instruments *look) {
  if (image.size() != pixels())
    throw std::invalid_argument("the image holds " + std::to_string(image.size()) +
                                " pixels but the experiment has " + std::to_string(pixels()));
  light.resize(simulator.pixels());
  RunResult result = look ? simulator.render(std::span(light), run, *look)
                          : simulator.render(std::span(light), run);
  if (!result.cancelled)
    std::ranges::copy(respond(light, 0, experiment.detector.gain), image.begin());
  return result;
}

RunResult SpreadImage::render(std::span<float> image, const RunOptions &run,
                              const Instruments *look) {
  Pixels doubles(image.size());
  RunResult result = render(std::span(doubles), run, look);
  if (!result.cancelled)
    std::ranges::transform(doubles, image.begin(), [](double x) { return float(x); });
  return result;
}

SpreadImage::Change SpreadImage::changeOf(std::span<const Direction> direction) const {
  Change change;
  for (const Direction &d : direction) {
    if (d.values.size() != 1)
      continue;
    if (d.parameter == "gain")
      change.gain += d.values[0];
    else if (d.parameter == "psf_fwhm")
      change.fwhm += d.values[0];
    else if (d.parameter == "pixel_size")
      change.pixelSize += d.values[0];
  }
  return change;
}

double SpreadImage::changeOfWidth(const Change &change) const {
  const double pixel = experiment.detector.pixelSize;
  return (change.fwhm - width() * change.pixelSize) / pixel;
}

std::vector<Gradient> SpreadImage::gradient(const Names &parameters,
                                            std::span<const double> cotangent) {
  const double gain = experiment.detector.gain, pixel = experiment.detector.pixelSize;
  const Pixels atDetector = gained(cotangent, gain);
  std::vector<Gradient> known;
  if (const std::string names = photonNames(parameters); !names.empty())
    known = simulator.gradient(names, collect(atDetector, 0));
  std::vector<Gradient> all = inOrder(parameters, std::move(known));
  const bool byWidth = has(parameters, "psf_fwhm") || has(parameters, "pixel_size");
  if (!byWidth && !has(parameters, "gain"))
    return all;
  renderPhotons();
  if (has(parameters, "gain"))
    find(all, "gain").values[0] = product(cotangent, respond(light, 0, 1));
  const double slope = byWidth ? product(atDetector, spread(light, 1)) : 0;
  if (has(parameters, "psf_fwhm"))
    find(all, "psf_fwhm").values[0] = slope / pixel;
  if (has(parameters, "pixel_size"))
    find(all, "pixel_size").values[0] -= slope * width() / pixel;
  return all;
}

std::vector<double> SpreadImage::jvp(const Names &parameters,
                                     std::span<const Direction> direction) {
  for (const Direction &d : direction)
    if (!has(parameters, d.parameter))
      throw std::invalid_argument("the direction has '" + d.parameter +
                                  "', which is not among the parameters");
  const Change change = changeOf(direction);
  const double gain = experiment.detector.gain;
  Pixels tangent(pixels());
  if (const std::string names = photonNames(parameters); !names.empty())
    tangent = respond(simulator.jvp(names, photonDirection(direction)), 0, gain);
  renderPhotons();
  add(tangent, respond(light, 1, gain), changeOfWidth(change));
  add(tangent, respond(light, 0, 1), change.gain);
  return tangent;
}

std::vector<DerivativeImage> SpreadImage::jacobian(const Names &parameters) {
  std::vector<DerivativeImage> known, all;
  if (const std::string names = photonNames(parameters); !names.empty())
    known = simulator.jacobian(names);
  for (const std::string &name : parameters) {
    if (findParameter(name)->kind() != NB_PARAMETER_F64)
      throw std::invalid_argument("'" + name +
                                  "' is not one number: there is no one image of its derivative; "
                                  "ask for the derivative along a direction");
    const auto found = std::ranges::find(known, name, &DerivativeImage::parameter);
    Pixels tangent(pixels());
    if (found != known.end())
      tangent = respond(found->pixels, 0, experiment.detector.gain);
    if (name == "gain" || name == "psf_fwhm" || name == "pixel_size") {
      const Direction unit[] = {{name, {1.0}}};
      const Change change = changeOf(unit);
      renderPhotons();
      add(tangent, respond(light, 1, experiment.detector.gain), changeOfWidth(change));
      add(tangent, respond(light, 0, 1), change.gain);
    }
    all.push_back({name, findParameter(name)->unit, std::move(tangent)});
  }
  return all;
}

std::vector<Gradient> SpreadImage::hvp(const Names &parameters,
                                       std::span<const Direction> direction,
                                       std::span<const double> cotangent) {
  const Change change = changeOf(direction);
  const double gain = experiment.detector.gain, pixel = experiment.detector.pixelSize;
  const double w = width(), dw = changeOfWidth(change);
  const Pixels atDetector = gained(cotangent, gain), ofGain = gained(cotangent, change.gain);

  std::vector<Gradient> known;
  Pixels dLight(simulator.pixels());
  if (const std::string names = photonNames(parameters); !names.empty()) {
    // The photons' own second derivative, and their first by how the cotangent changes.
    const std::vector<Direction> some = photonDirection(direction);
    known = simulator.hvp(names, some, collect(atDetector, 0));
    Pixels dCotangent = collect(ofGain, 0);
    add(dCotangent, collect(atDetector, 1), dw);
    const std::vector<Gradient> more = simulator.gradient(names, dCotangent);
    for (std::size_t i = 0; i != known.size(); ++i)
      add(known[i].values, more[i].values);
    dLight = simulator.jvp(names, some);
  }
  std::vector<Gradient> all = inOrder(parameters, std::move(known));
  renderPhotons();
  if (has(parameters, "gain"))
    find(all, "gain").values[0] =
        product(cotangent, respond(dLight, 0, 1)) + dw * product(cotangent, respond(light, 1, 1));
  // Of the loss by the width in pixels, and how that changes.
  const double slope = product(atDetector, spread(light, 1));
  const double change1 = product(atDetector, spread(dLight, 1)) +
                         dw * product(atDetector, spread(light, 2)) +
                         product(ofGain, spread(light, 1));
  if (has(parameters, "psf_fwhm"))
    find(all, "psf_fwhm").values[0] = change1 / pixel - slope * change.pixelSize / (pixel * pixel);
  if (has(parameters, "pixel_size"))
    find(all, "pixel_size").values[0] -=
        (change1 * w + slope * (dw - w * change.pixelSize / pixel)) / pixel;
  return all;
}

} // namespace nanobragg
