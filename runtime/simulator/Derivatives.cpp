#include "nanobragg/Simulator.h"

#include "runtime/simulator/State.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg {
namespace {

using Mode = Derivative::Mode;

std::vector<double> copyOf(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

} // namespace

void checkDirection(const std::vector<std::string> &parameters,
                    std::span<const Direction> direction) {
  for (const Direction &change : direction)
    if (std::ranges::find(parameters, change.parameter) == parameters.end())
      throw std::invalid_argument("the direction has '" + change.parameter +
                                  "', which is not among the parameters");
}

std::vector<Gradient> Simulator::gradient(std::string_view parameters,
                                          std::span<const double> cotangent) {
  return state->source->reverse({Mode::VJP, state->namesOf(parameters)}, cotangent, {},
                                state->everyRun);
}

std::vector<Gradient> Simulator::gradient(std::string_view parameters,
                                          const DeviceMemory &cotangent) {
  return state->source->reverse({Mode::VJP, state->namesOf(parameters)}, cotangent, {},
                                state->everyRun);
}

LossGradient Simulator::gradient(std::string_view parameters, const Loss &loss) {
  std::vector<double> &cotangent = state->lossCotangent;
  cotangent.resize(pixels());
  LossGradient result;
  result.loss = loss.evaluate(value(), rendered(), cotangent, &result.ofLoss, &state->lossMemory);
  result.gradient = gradient(parameters, cotangent);
  return result;
}

std::vector<DerivativeImage> Simulator::jacobian(std::string_view parameters) {
  const std::vector<std::string> names = state->namesOf(parameters);
  for (const std::string &name : names)
    if (findParameter(name)->kind() != NB_PARAMETER_F64)
      throw std::invalid_argument("'" + name +
                                  "' is not one number: there is no one image of its derivative; "
                                  "ask for the derivative along a direction");
  std::vector<DerivativeImage> derivatives;
  std::vector<std::span<double>> images;
  derivatives.reserve(names.size());
  images.reserve(names.size());
  for (const std::string &name : names)
    derivatives.push_back({name, findParameter(name)->unit, std::vector<double>(pixels())});
  for (DerivativeImage &derivative : derivatives)
    images.push_back(derivative.pixels);
  state->source->forward({Mode::Jacobian, names}, {}, images, state->everyRun);
  return derivatives;
}

std::vector<double> Simulator::jvp(std::string_view parameters,
                                   std::span<const Direction> direction) {
  const std::vector<Direction> one[] = {{direction.begin(), direction.end()}};
  return std::move(jvps(parameters, one).front());
}

std::vector<std::vector<double>>
Simulator::jvps(std::string_view parameters, std::span<const std::vector<Direction>> directions) {
  std::vector<std::vector<double>> images(directions.size(), std::vector<double>(pixels()));
  jvps(parameters, directions, spansOf(images));
  return images;
}

void Simulator::jvps(std::string_view parameters,
                     std::span<const std::vector<Direction>> directions,
                     std::span<const std::span<double>> images) {
  if (images.empty())
    return;
  const std::vector<std::string> names = state->namesOf(parameters);
  for (const std::vector<Direction> &direction : directions)
    checkDirection(names, direction);
  const bool fit = images.size() <= directions.size() &&
                   std::ranges::all_of(
                       images, [&](std::span<double> image) { return image.size() == pixels(); });
  if (!fit)
    throw std::invalid_argument("derivatives along " + std::to_string(directions.size()) +
                                " directions go to as many images of " + std::to_string(pixels()) +
                                " pixels, or fewer");
  state->source->forward({Mode::JVP, names, int(directions.size())}, directions, images,
                         state->everyRun);
}

std::vector<Gradient> Simulator::hvp(std::string_view parameters,
                                     std::span<const Direction> direction,
                                     std::span<const double> cotangent) {
  const std::vector<std::string> names = state->namesOf(parameters);
  checkDirection(names, direction);
  return state->source->reverse({Mode::HVP, names}, cotangent, direction, state->everyRun);
}

std::vector<Gradient> Simulator::hvp(std::string_view parameters,
                                     std::span<const Direction> direction, const Loss &loss) {
  std::vector<double> cotangent(pixels());
  const std::vector<double> image = copyOf(value());
  loss.evaluate(image, rendered(), cotangent);
  std::vector<Gradient> product = hvp(parameters, direction, cotangent);
  // The loss bends too: its curvature times how the image changes is one more cotangent.
  bool bends = false;
  const std::vector<double> change = jvp(parameters, direction);
  const std::span<const std::uint8_t> counts = rendered();
  for (std::size_t i = 0; i != change.size(); ++i) {
    cotangent[i] = counts[i] ? loss.curvature(image, i) * change[i] : 0;
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
