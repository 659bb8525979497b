#include "tools/nb-sim/GradientReport.h"

#include "lib/CommandLine/Numbers.h"
#include "lib/Experiment/Formatted.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Images/ImageFile.h"
#include "lib/Images/NpyFile.h"
#include "lib/Images/SmvFile.h"
#include "lib/Program/ParameterElements.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

namespace nanobragg {

using Json = nlohmann::ordered_json;

const char *nameOf(Engine engine) { return engine == Engine::Fused ? "fused" : "interpreter"; }

const char *kindOf(const LossOptions &loss) {
  static constexpr const char *names[] = {"sum", "chi2", "poisson", "gauss"};
  return names[int(loss.kind)];
}

static std::vector<std::string> elementNames(const Simulator &simulator, const Gradient &g) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i != g.values.size(); ++i)
    names.push_back(elementName(simulator.experiment(), *findParameter(g.parameter), i));
  return names;
}

std::string GradientReport::toJson() const {
  Json all = {{"engine", nameOf(simulator.engine())},
              {"loss_kind", lossKind},
              {"pixels", pixels},
              {"loss", result.loss}};
  for (const Gradient &g : result.gradient) {
    const std::vector<double> value = simulator.get(g.parameter);
    Json entry = {{"parameter", g.parameter}, {"unit", g.unit}};
    if (findParameter(g.parameter)->kind() == NB_PARAMETER_F64) {
      entry["value"] = value[0];
      entry["gradient"] = g.values[0];
    } else {
      entry["elements"] = elementNames(simulator, g);
      entry["value"] = value;
      entry["gradient"] = g.values;
    }
    all["gradient"].push_back(std::move(entry));
  }
  if (loss.hasBackground())
    all["of_loss"]["background"] = result.ofLoss.background;
  if (loss.hasReadOut())
    all["of_loss"]["readout"] = result.ofLoss.readOut;
  all["dead"] = Json::array();
  for (const DeadGradient &d : dead)
    all["dead"].push_back({{"parameter", d.parameter}, {"why", d.why}});
  return all.dump(2) + "\n";
}

std::string GradientReport::toTable() const {
  std::string text = formatted("loss (%s of %lld pixels) = %.17g\n", lossKind.c_str(),
                               static_cast<long long>(pixels), result.loss);
  text += formatted("%-28s %-9s %24s %24s\n", "parameter", "unit", "value", "gradient per unit");
  for (const Gradient &g : result.gradient) {
    const std::vector<double> value = simulator.get(g.parameter);
    const std::vector<std::string> names = elementNames(simulator, g);
    for (std::size_t i = 0; i != g.values.size(); ++i) {
      text += formatted("%-28s %-9s %24.17g %24.16e\n", names[i].c_str(), g.unit.c_str(), value[i],
                        g.values[i]);
    }
  }
  const auto own = [&](const char *name, double slope) {
    text += formatted("%-28s %-9s %24s %24.16e\n", name, "", "of the loss", slope);
  };
  if (loss.hasBackground())
    own("background", result.ofLoss.background);
  if (loss.hasReadOut())
    own("readout", result.ofLoss.readOut);
  return text;
}

namespace {

/// The detector, and the pixels that are listed; none: all.
struct Pixels {
  std::int64_t panels, slow, fast;
  std::span<const PixelIndex> listed;
};

/// An array of one dimension, if it is one: a number for each listed pixel.
std::optional<std::vector<double>> readList(const std::string &path, std::size_t listed) {
  if (!path.ends_with(".npy"))
    return std::nullopt;
  const io::NpyArray array = io::readNpy(path);
  if (array.shape.size() != 1)
    return std::nullopt;
  if (array.shape[0] != listed)
    throw io::FileError(path, "has " + std::to_string(array.shape[0]) + " numbers and --pixels " +
                                  std::to_string(listed) + " pixels");
  return std::visit(
      [](const auto &values) { return std::vector<double>(values.begin(), values.end()); },
      array.values);
}

std::vector<double> readImageOf(const std::string &path, const Pixels &shape) {
  Image image = readImage(path, Shape{shape.panels * shape.slow, shape.fast});
  if (image.panels * image.slow != shape.panels * shape.slow || image.fast != shape.fast)
    throw io::FileError(path, "has " + std::to_string(image.panels * image.slow) + " x " +
                                  std::to_string(image.fast) + " pixels and the experiment " +
                                  std::to_string(shape.panels * shape.slow) + " x " +
                                  std::to_string(shape.fast));
  // The pedestal of a detector's image is no photons, nor are the scaled numbers of -intfile.
  if (const std::string bytes = io::readBytes(path); io::isSmv(bytes)) {
    const io::SmvFile smv = io::parseSmv(path, bytes);
    const double pedestal = smv.number("ADC_OFFSET").value_or(0);
    const double scale = smv.number("INTFILE_SCALE").value_or(1);
    if (!(scale > 0))
      throw io::FileError(path, "has an INTFILE_SCALE that is not above 0");
    for (double &pixel : image.pixels)
      pixel = (pixel - pedestal) / scale;
  }
  return std::move(image.pixels);
}

std::vector<double> readPixels(const std::string &path, const Pixels &shape) {
  if (shape.listed.empty())
    return readImageOf(path, shape);
  if (auto list = readList(path, shape.listed.size()))
    return std::move(*list);
  const std::vector<double> image = readImageOf(path, shape);
  std::vector<double> list;
  for (const PixelIndex &p : shape.listed)
    list.push_back(image[std::size_t((p.panel * shape.slow + p.slow) * shape.fast + p.fast)]);
  return list;
}

std::vector<double> readSigma(const std::string &text, const std::vector<double> &data,
                              const Pixels &shape) {
  if (const auto number = parseNumber(text)) {
    if (*number <= 0)
      throw UsageError("--loss: sigma=" + text + " is not positive");
    return {*number};
  }
  if (text != "poisson")
    return readPixels(text, shape);
  std::vector<double> sigma(data.size());
  std::transform(data.begin(), data.end(), sigma.begin(),
                 [](double photons) { return std::sqrt(std::max(photons, 1.0)); });
  return sigma;
}

std::vector<double> readBackground(const std::string &text, const Pixels &shape) {
  if (const auto number = parseNumber(text))
    return {*number};
  return readPixels(text, shape);
}

/// ADU per photon of each pixel, or of all.
std::vector<double> gainsOf(const Experiment &experiment, const Pixels &shape) {
  const Detector &d = experiment.detector;
  const double gain = experiment.variant.gain ? d.gain : 1;
  if (!experiment.variant.gainMap)
    return {gain};
  const std::vector<double> &map = d.gainMap.values;
  std::vector<double> gains;
  for (const PixelIndex &p : shape.listed)
    gains.push_back(gain * map[std::size_t((p.panel * shape.slow + p.slow) * shape.fast + p.fast)]);
  if (shape.listed.empty())
    for (double ofPixel : map)
      gains.push_back(gain * ofPixel);
  return gains;
}

} // namespace

Loss readLoss(const RunSetup &setup) {
  const LossOptions &options = setup.line.tool.loss;
  if (!options.data)
    return Loss::sum();
  const Detector &d = setup.complete.experiment.detector;
  const Pixels shape = {setup.complete.experiment.panelCount(), d.slowPixels, d.fastPixels,
                        setup.line.tool.simulator.pixels};
  std::vector<double> data = readPixels(*options.data, shape);
  std::vector<std::uint8_t> mask;
  if (options.mask)
    for (double pixel : readPixels(*options.mask, shape))
      mask.push_back(pixel != 0);
  if (options.kind == LossOptions::Kind::ChiSquare) {
    std::vector<double> sigma = readSigma(options.sigma.value_or("1"), data, shape);
    return Loss::chiSquare(std::move(data), std::move(sigma), std::move(mask));
  }
  Loss::Noise noise;
  noise.background = readBackground(options.background.value_or("0"), shape);
  noise.readOut = options.readOut.value_or(0);
  noise.gain = gainsOf(setup.complete.experiment, shape);
  if (options.kind == LossOptions::Kind::Poisson)
    return Loss::poisson(std::move(data), std::move(noise), std::move(mask));
  return Loss::gaussian(std::move(data), std::move(noise), std::move(mask));
}

} // namespace nanobragg
