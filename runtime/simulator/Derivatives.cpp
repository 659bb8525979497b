#include "nanobragg/Simulator.h"

#include "lib/Experiment/ParameterElements.h"
#include "nanobragg/DerivativeNames.h"
#include "runtime/simulator/State.h"

#include <algorithm>
#include <stdexcept>

namespace nanobragg {
namespace {

using Mode = Derivative::Mode;

std::vector<double> copyOf(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

std::vector<Gradient> outputsOf(const BoundProgram &program, const Derivative &derivative,
                                DerivativeKind kind) {
  std::vector<Gradient> gradients;
  for (const std::string &name : derivative.parameters)
    gradients.push_back(
        {name, findParameter(name)->unit, copyOf(program.output(derivativeName(kind, name)))});
  return gradients;
}

/// The tangents of all parameters, zero where the direction says nothing. `number` is the
/// direction's, from one, or 0 when there is one alone.
std::vector<std::vector<double>> bindDirection(BoundProgram &program, const Experiment &experiment,
                                               const Derivative &derivative,
                                               std::span<const Direction> direction,
                                               unsigned number = 0) {
  std::vector<std::vector<double>> tangents;
  for (const std::string &name : derivative.parameters) {
    std::vector<double> tangent(elementCount(experiment, *findParameter(name)));
    for (const Direction &change : direction)
      if (change.parameter == name)
        tangent = change.values;
    tangents.push_back(std::move(tangent));
    program.bind(tangentName(name, number), tangents.back());
  }
  return tangents;
}

void checkDirection(const std::vector<std::string> &parameters,
                    std::span<const Direction> direction) {
  for (const Direction &change : direction)
    if (std::ranges::find(parameters, change.parameter) == parameters.end())
      throw std::invalid_argument("the direction has '" + change.parameter +
                                  "', which is not among the parameters");
}

} // namespace

//===----------------------------------------------------------------------===//
// By one program
//===----------------------------------------------------------------------===//

std::vector<Gradient> Simulator::State::gradient(const Names &parameters,
                                                 std::span<const double> cotangent) {
  const Derivative derivative{Mode::VJP, parameters};
  BoundProgram &program = this->program(ImageType::F64, derivative);
  program.bind(cotangentName("image"), fromCaller(cotangent));
  const bool images = std::ranges::any_of(parameters, [](const std::string &name) {
    return findParameter(name)->kind() == NB_PARAMETER_IMAGE;
  });
  runDerivative(program, images);
  return outputsOf(program, derivative, DerivativeKind::Gradient);
}

std::vector<DerivativeImage> Simulator::State::jacobian(const Names &parameters) {
  const Derivative derivative{Mode::Jacobian, parameters};
  BoundProgram &program = this->program(ImageType::F64, derivative);
  runDerivative(program);
  std::vector<DerivativeImage> images;
  for (const std::string &name : parameters)
    images.push_back({name, findParameter(name)->unit,
                      toCaller(program.output(derivativeName(DerivativeKind::Derivative, name)))});
  return images;
}

void Simulator::State::jvps(const Names &parameters, Directions directions, Images images) {
  const Derivative derivative{Mode::JVP, parameters, int(directions.size())};
  BoundProgram &program = this->program(ImageType::F64, derivative);
  // One alone has no number.
  const auto number = [&](std::size_t k) { return directions.size() == 1 ? 0 : unsigned(k) + 1; };
  std::vector<std::vector<std::vector<double>>> tangents; // until the program has run
  for (std::size_t k = 0; k != directions.size(); ++k)
    tangents.push_back(bindDirection(program, experiment, derivative, directions[k], number(k)));
  runDerivative(program);
  for (std::size_t k = 0; k != images.size(); ++k)
    toCaller(program.output(derivativeName(DerivativeKind::JVP, "image", number(k))), images[k]);
}

std::vector<Gradient> Simulator::State::hvp(const Names &parameters,
                                            std::span<const Direction> direction,
                                            std::span<const double> cotangent) {
  const Derivative derivative{Mode::HVP, parameters};
  BoundProgram &program = this->program(ImageType::F64, derivative);
  program.bind(cotangentName("image"), fromCaller(cotangent));
  const auto tangents = bindDirection(program, experiment, derivative, direction);
  runDerivative(program);
  return outputsOf(program, derivative, DerivativeKind::HVP);
}

//===----------------------------------------------------------------------===//
// By names and groups
//===----------------------------------------------------------------------===//

std::vector<Gradient> Simulator::gradient(std::string_view parameters,
                                          std::span<const double> cotangent) {
  return state->derivatives().gradient(state->namesOf(parameters), cotangent);
}

std::vector<Gradient> Simulator::gradient(std::string_view parameters,
                                          const DeviceMemory &cotangent) {
  if (!state->isOfProgram())
    throw std::invalid_argument("the host makes something of this image (a list of pixels, point "
                                "spread, a quadrature), and with a cotangent on a GPU cannot; give "
                                "it as an array of the host");
  const Derivative derivative{Mode::VJP, state->namesOf(parameters)};
  BoundProgram &program = state->program(ImageType::F64, derivative);
  const std::string name = cotangentName("image");
  // An address that nothing on the host follows.
  program.bind(name, {reinterpret_cast<const double *>(cotangent.address), pixels()});
  RunOptions run = state->everyRun;
  run.onDevice[name] = cotangent;
  state->runDerivative(program, run, true);
  return outputsOf(program, derivative, DerivativeKind::Gradient);
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
  return state->derivatives().jacobian(names);
}

std::vector<double> Simulator::jvp(std::string_view parameters,
                                   std::span<const Direction> direction) {
  const std::vector<Direction> one[] = {{direction.begin(), direction.end()}};
  return std::move(jvps(parameters, one).front());
}

std::vector<std::vector<double>>
Simulator::jvps(std::string_view parameters, std::span<const std::vector<Direction>> directions) {
  std::vector<std::vector<double>> images(directions.size(), std::vector<double>(pixels()));
  jvps(parameters, directions, std::vector<std::span<double>>(images.begin(), images.end()));
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
  state->derivatives().jvps(names, directions, images);
}

std::vector<Gradient> Simulator::hvp(std::string_view parameters,
                                     std::span<const Direction> direction,
                                     std::span<const double> cotangent) {
  const std::vector<std::string> names = state->namesOf(parameters);
  checkDirection(names, direction);
  return state->derivatives().hvp(names, direction, cotangent);
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
