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
  for (const Direction &change : direction)
    if (std::find(derivative.parameters.begin(), derivative.parameters.end(), change.parameter) ==
        derivative.parameters.end())
      throw std::invalid_argument("the direction has '" + change.parameter +
                                  "', which is not among the parameters");
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

} // namespace

std::vector<Gradient> Simulator::gradient(std::string_view parameters,
                                          std::span<const double> cotangent) {
  const Derivative derivative = state->derivativeBy(Mode::VJP, parameters);
  if (SpreadImage *spread = state->spreadOfDerivative())
    return spread->gradient(derivative.parameters, cotangent);
  BoundProgram &program = state->program(ImageType::F64, derivative);
  program.bind(cotangentName("image"), state->fromCaller(cotangent));
  state->runDerivative(program, /*images=*/false);
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
  const Derivative derivative = state->derivativeBy(Mode::Jacobian, parameters);
  if (SpreadImage *spread = state->spreadOfDerivative())
    return spread->jacobian(derivative.parameters);
  for (const std::string &name : derivative.parameters)
    if (findParameter(name)->kind() != NB_PARAMETER_F64)
      throw std::invalid_argument("'" + name +
                                  "' is not one number: there is no one image of its derivative; "
                                  "ask for the derivative along a direction");
  BoundProgram &program = state->program(ImageType::F64, derivative);
  state->runDerivative(program);
  std::vector<DerivativeImage> images;
  for (const std::string &name : derivative.parameters)
    images.push_back(
        {name, findParameter(name)->unit,
         state->toCaller(program.output(derivativeName(DerivativeKind::Derivative, name)))});
  return images;
}

std::vector<double> Simulator::jvp(std::string_view parameters,
                                   std::span<const Direction> direction) {
  const Derivative derivative = state->derivativeBy(Mode::JVP, parameters);
  if (SpreadImage *spread = state->spreadOfDerivative())
    return spread->jvp(derivative.parameters, direction);
  BoundProgram &program = state->program(ImageType::F64, derivative);
  const auto tangents = bindDirection(program, state->experiment, derivative, direction);
  state->runDerivative(program);
  return state->toCaller(program.output(derivativeName(DerivativeKind::JVP, "image")));
}

std::vector<std::vector<double>>
Simulator::jvps(std::string_view parameters, std::span<const std::vector<Direction>> directions) {
  if (directions.size() < 2 ||
      state->spreadOfDerivative()) { // spread goes one direction after another
    std::vector<std::vector<double>> images;
    for (const std::vector<Direction> &direction : directions)
      images.push_back(jvp(parameters, direction));
    return images;
  }
  Derivative derivative = state->derivativeBy(Mode::JVP, parameters);
  derivative.tangents = int(directions.size());
  BoundProgram &program = state->program(ImageType::F64, derivative);
  std::vector<std::vector<std::vector<double>>> tangents; // until the program has run
  for (std::size_t k = 0; k != directions.size(); ++k)
    tangents.push_back(
        bindDirection(program, state->experiment, derivative, directions[k], unsigned(k) + 1));
  state->runDerivative(program);
  std::vector<std::vector<double>> images;
  for (std::size_t k = 0; k != directions.size(); ++k)
    images.push_back(state->toCaller(
        program.output(derivativeName(DerivativeKind::JVP, "image", unsigned(k) + 1))));
  return images;
}

std::vector<Gradient> Simulator::hvp(std::string_view parameters,
                                     std::span<const Direction> direction,
                                     std::span<const double> cotangent) {
  const Derivative derivative = state->derivativeBy(Mode::HVP, parameters);
  if (SpreadImage *spread = state->spreadOfDerivative())
    return spread->hvp(derivative.parameters, direction, cotangent);
  BoundProgram &program = state->program(ImageType::F64, derivative);
  program.bind(cotangentName("image"), state->fromCaller(cotangent));
  const auto tangents = bindDirection(program, state->experiment, derivative, direction);
  state->runDerivative(program);
  return outputsOf(program, derivative, DerivativeKind::HVP);
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
