#include "runtime/simulator/BoundProgram.h"

#include "lib/Experiment/ParameterElements.h"

#include <stdexcept>
#include <string>

namespace nanobragg {
namespace {

/// The parameter that "gradient.cell_a" or "hvp.cell_a" is a derivative by.
const Parameter &parameterOf(std::string_view output) {
  if (const Parameter *parameter = parameterBehind(output))
    return *parameter;
  throw std::runtime_error("the program's output '" + std::string(output) +
                           "' belongs to no parameter, which is a bug");
}

std::int64_t sizeOf(const nb_kernel_output &output, const Experiment &experiment) {
  switch (output.kind) {
  case NB_OUTPUT_IMAGE:
    return experiment.pixelCount();
  case NB_OUTPUT_F64:
    return 1;
  case NB_OUTPUT_VEC3:
    return 3;
  case NB_OUTPUT_MAT3:
    return 9;
  default:
    return std::int64_t(elementCount(experiment, parameterOf(output.name)));
  }
}

} // namespace

BoundProgram::BoundProgram(KernelProvider &kernels, const KernelRequest &request,
                       const Experiment &experiment)
    : experiment(experiment) {
  if (request.engine == Engine::Fused) {
    runner.emplace(kernels.get(request), experiment, request.gpu);
    return;
  }
  auto program = kernels.program(request);
  const nb_kernel_descriptor &descriptor = program->descriptor();
  interpreted.emplace(Interpreted{std::move(program), BoundParameters(descriptor, experiment),
                                  OutputMemory(descriptor)});
}

const nb_kernel_descriptor &BoundProgram::descriptor() const {
  return runner ? runner->descriptor() : interpreted->program->descriptor();
}

void BoundProgram::bind(std::string_view parameter, std::span<const double> numbers) {
  if (runner)
    runner->bind(parameter, numbers);
  else
    interpreted->parameters.bind(parameter, numbers);
}

RunResult BoundProgram::run(const RunOptions &options) {
  if (runner)
    return runner->run(options);
  const nb_kernel_descriptor &d = descriptor();
  std::vector<std::int64_t> sizes;
  for (std::uint32_t i = 0; i != d.num_outputs; ++i)
    sizes.push_back(sizeOf(d.outputs[i], experiment));
  interpreted->memory.resize(sizes, nullptr);
  nb_interpret_options c = {};
  c.threads = resolveThreads(options.threads);
  interpreted->program->run(interpreted->parameters.arguments(), c, interpreted->memory.addresses());
  return {};
}

std::span<const double> BoundProgram::output(std::string_view name) const {
  return runner ? runner->output(name) : interpreted->memory.numbers(name);
}

} // namespace nanobragg
