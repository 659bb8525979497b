#include "runtime/simulator/Renderer.h"

#include "lib/Experiment/Parameters.h"
#include "runtime/gpu/DevicePlacement.h"
#include "runtime/kernels/Refusal.h"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace nanobragg {
namespace {

bool isOn(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

/// The arguments of an experiment's program, for which there is no kernel to describe them.
class ProgramArguments {
public:
  explicit ProgramArguments(const Experiment &experiment)
      : parameters(describe(experiment.variant)), bound(descriptor(parameters), experiment) {}
  const void *const *get() const { return bound.arguments(); }

private:
  static std::vector<nb_kernel_parameter> describe(const ProgramVariant &variant) {
    std::vector<nb_kernel_parameter> all;
    for (const Parameter *parameter : parametersOf(variant))
      all.push_back({parameter->name, parameter->kind(), parameter->unit});
    return all;
  }
  static nb_kernel_descriptor descriptor(const std::vector<nb_kernel_parameter> &parameters) {
    nb_kernel_descriptor d = {};
    d.name = "image";
    d.num_parameters = std::uint32_t(parameters.size());
    d.parameters = parameters.data();
    return d;
  }

  std::vector<nb_kernel_parameter> parameters;
  BoundParameters bound;
};

/// Hands the callbacks of a run through the C interface. An exception of the progress callback
/// ends the run as a cancellation does and is thrown again by the caller.
struct Callbacks {
  const RunOptions &options;
  std::mutex mutex;
  std::exception_ptr thrown;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();

  static void progress(void *context, double fraction) {
    auto &self = *static_cast<Callbacks *>(context);
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> interval(self.options.progressInterval);
    std::lock_guard lock(self.mutex);
    if (self.thrown || (fraction < 1 && now - self.last < interval))
      return;
    self.last = now;
    try {
      self.options.progress(fraction);
    } catch (...) {
      self.thrown = std::current_exception();
    }
  }
  static std::int32_t cancelled(void *context) {
    auto &self = *static_cast<Callbacks *>(context);
    std::lock_guard lock(self.mutex);
    return self.thrown || (self.options.cancel && self.options.cancel->requested());
  }
};

} // namespace

bool compilationDisabled() {
  return isOn("NANOBRAGG_DISABLE_COMPILE") || isOn("NANOBRAG_DISABLE_COMPILE");
}

Renderer::Renderer(KernelProvider &kernels, KernelRequest wanted, const Experiment &experiment,
                   bool fallback)
    : kernels(kernels), request(std::move(wanted)), experiment(experiment) {
  if (request.file.empty() && compilationDisabled())
    request.engine = Engine::Interpreter;
  if (request.engine == Engine::Interpreter)
    return;
  findDevice(request);
  if (request.gpu && request.choice.kind == DeviceChoice::Kind::Auto && renderOnGpu())
    return;
  try {
    kernel = kernels.get(request);
  } catch (const Refusal &) {
    throw;
  } catch (const std::runtime_error &error) {
    if (!fallback || !request.file.empty() || request.gpu)
      throw;
    if (!kernels.compiler()->canInterpret())
      throw;
    reason = error.what();
    request.engine = Engine::Interpreter;
    return;
  }
  runner.emplace(kernel, experiment, request.gpu);
}

/// False when the GPU cannot; then the request is for the processor.
bool Renderer::renderOnGpu() {
  try {
    kernel = kernels.get(request);
    runner.emplace(kernel, experiment, request.gpu);
    return true;
  } catch (const Refusal &) {
    throw;
  } catch (const std::runtime_error &error) {
    deviceReason = error.what();
    request = onProcessor(request);
    return false;
  }
}

std::string Renderer::target() const { return kernel ? kernel->target : "interpreter"; }

ImageShape Renderer::shape() const {
  return {experiment.panelCount(), experiment.detector.slowPixels, experiment.detector.fastPixels};
}

RunResult Renderer::run(std::span<float> image, const RunOptions &options) {
  std::string report;
  return runner ? runner->run(image, options) : interpret(image, options, {}, report);
}

RunResult Renderer::run(std::span<double> image, const RunOptions &options) {
  std::string report;
  return runner ? runner->run(image, options) : interpret(image, options, {}, report);
}

RunResult Renderer::interpret(std::span<float> image, const RunOptions &options,
                              const Instrumentation &instrumentation, std::string &report) {
  return interpret(image.data(), std::int64_t(image.size()), ImageType::F32, options,
                   instrumentation, report);
}

RunResult Renderer::interpret(std::span<double> image, const RunOptions &options,
                              const Instrumentation &instrumentation, std::string &report) {
  return interpret(image.data(), std::int64_t(image.size()), ImageType::F64, options,
                   instrumentation, report);
}

RunResult Renderer::interpret(void *image, std::int64_t pixels, ImageType type,
                              const RunOptions &options, const Instrumentation &instrumentation,
                              std::string &report) {
  if (type != experiment.variant.imageType)
    throw std::invalid_argument("the experiment's image type is not that of the image's memory");
  if (pixels != shape().pixels())
    throw std::invalid_argument("the image holds " + std::to_string(pixels) +
                                " pixels but the experiment has " +
                                std::to_string(shape().pixels()));
  Callbacks callbacks = {options, {}, {}};
  nb_interpret_options c = {};
  c.threads = resolveThreads(options.threads);
  c.probe = instrumentation.probe.empty() ? nullptr : instrumentation.probe.c_str();
  c.json = instrumentation.json;
  c.check_finite = instrumentation.checkFinite;
  c.progress = options.progress ? Callbacks::progress : nullptr;
  c.cancelled = Callbacks::cancelled;
  c.context = &callbacks;

  RunResult result;
  result.threads = c.threads;
  const ProgramArguments arguments(experiment);
  const auto library = kernels.compiler();
  const auto start = std::chrono::steady_clock::now();
  report = library->interpret(request, arguments.get(), c, image);
  result.runSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (callbacks.thrown)
    std::rethrow_exception(callbacks.thrown);
  result.cancelled = options.cancel && options.cancel->requested();
  return result;
}

std::string Renderer::trace(const PixelIndex &pixel) {
  nb_interpret_options c = {};
  c.threads = 1;
  c.trace = 1;
  c.trace_panel = pixel.panel;
  c.trace_slow = pixel.slow;
  c.trace_fast = pixel.fast;
  const ProgramArguments arguments(experiment);
  return kernels.compiler()->interpret(request, arguments.get(), c, nullptr);
}

} // namespace nanobragg
