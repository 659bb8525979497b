#include "runtime/simulator/BoundProgram.h"

#include "lib/Program/ParameterElements.h"
#include "lib/Program/PossibleValues.h"
#include "nanobragg/DerivativeNames.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

const char *nameOf(nb_image_type type) { return type == NB_IMAGE_F32 ? "float" : "double"; }

/// The parameter that "gradient.cell_a" or "hvp.cell_a" is a derivative with respect to.
const Parameter &parameterOf(std::string_view output) {
  if (const Parameter *parameter = parameterBehind(output))
    return *parameter;
  throw std::runtime_error("the program's output '" + std::string(output) +
                           "' belongs to no parameter, which is a bug");
}

/// Numbers in an output of an interpreted program; a kernel tells itself.
std::int64_t sizeOf(const nb_kernel_output &output, const Experiment &experiment,
                    const ImageShape &shape) {
  switch (output.kind) {
  case NB_OUTPUT_IMAGE:
    return shape.pixels();
  case NB_OUTPUT_F64:
    return 1;
  case NB_OUTPUT_VEC3:
    return 3;
  case NB_OUTPUT_MAT3:
    return 9;
  case NB_OUTPUT_TABLE_F64:
  case NB_OUTPUT_TABLE_VEC3:
  case NB_OUTPUT_TABLE_MAT3:
  case NB_OUTPUT_HKL_GRID:
    return std::int64_t(elementCount(experiment, parameterOf(output.name)));
  }
  throw std::logic_error("the program's output '" + std::string(output.name) +
                         "' is of no known kind");
}

bool takes(const nb_kernel_descriptor &program, std::string_view parameter) {
  return std::any_of(program.parameters, program.parameters + program.num_parameters,
                     [&](const nb_kernel_parameter &p) { return p.name == parameter; });
}

} // namespace

BoundProgram::BoundProgram(Program given, const Experiment &experiment)
    : program(std::move(given)), experiment(experiment),
      parameters(program.descriptor(), experiment), memory(program.descriptor()) {}

ImageShape BoundProgram::shape() const {
  return {experiment.imagePanels(), experiment.detector.slowPixels, experiment.detector.fastPixels};
}

void BoundProgram::bind(std::string_view parameter, std::span<const double> numbers) {
  parameters.bind(parameter, numbers);
}

std::vector<std::int64_t> BoundProgram::sizes() const {
  const nb_kernel_descriptor &d = descriptor();
  if (!interpreted())
    return outputSizes(d, parameters.arguments(), shape());
  std::vector<std::int64_t> all;
  for (std::uint32_t i = 0; i != d.num_outputs; ++i)
    all.push_back(sizeOf(d.outputs[i], experiment, shape()));
  return all;
}

RunResult BoundProgram::run(std::span<float> image, const RunOptions &options) {
  return run(image.data(), std::int64_t(image.size()), NB_IMAGE_F32, options);
}

RunResult BoundProgram::run(std::span<double> image, const RunOptions &options) {
  return run(image.data(), std::int64_t(image.size()), NB_IMAGE_F64, options);
}

RunResult BoundProgram::run(const RunOptions &options) { return runInto(nullptr, options); }

RunResult BoundProgram::run(void *image, std::int64_t pixels, nb_image_type type,
                            const RunOptions &options) {
  const nb_kernel_descriptor &d = descriptor();
  if (d.outputs[0].kind != NB_OUTPUT_IMAGE)
    throw std::invalid_argument("the kernel renders no image");
  if (type != d.image_type)
    throw std::invalid_argument(std::string("the kernel renders ") +
                                nameOf(nb_image_type(d.image_type)) +
                                " pixels but the image holds " + nameOf(type));
  if (pixels != shape().pixels())
    throw std::invalid_argument("the image holds " + std::to_string(pixels) +
                                " pixels but the experiment has " +
                                std::to_string(shape().pixels()));
  return runInto(image, options);
}

RunResult BoundProgram::runAndKeep(RunOptions options) {
  options.keepImage = true;
  memory.resize(std::vector<std::int64_t>(descriptor().num_outputs), nullptr);
  return runProgram(options);
}

RunResult BoundProgram::runInto(void *image, const RunOptions &options) {
  memory.resize(sizes(), image);
  return runProgram(options);
}

RunResult BoundProgram::runProgram(const RunOptions &options) {
  // Its numbers may have changed one by one since the experiment was made.
  const Crystal &crystal = experiment.crystal;
  if (takes(descriptor(), "cell_alpha"))
    checkCellAngles(crystal.cellAlpha, crystal.cellBeta, crystal.cellGamma);
  const Detector &detector = experiment.detector;
  return program.run(parameters.arguments(), shape(),
                     {detector.roiSlowMin, detector.roiSlowMax + 1}, memory.addresses(), options);
}

std::vector<std::vector<double>> bindDirection(BoundProgram &program, const Experiment &experiment,
                                               const Derivative &derivative,
                                               std::span<const Direction> direction,
                                               unsigned number) {
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

} // namespace nanobragg
