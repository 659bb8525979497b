#include "runtime/simulator/Program.h"

#include "runtime/processor/Stopwatch.h"

#include <exception>
#include <mutex>
#include <stdexcept>

namespace nanobragg {
namespace {

/// Hands the callbacks of a run through the C interface. An exception of the progress callback
/// ends the run as a cancellation does and is thrown again by the caller.
struct Callbacks {
  const RunOptions &options;
  std::mutex mutex{};
  std::exception_ptr thrown{};
  Stopwatch sinceLast{};

  static void progress(void *context, double fraction) {
    auto &self = *static_cast<Callbacks *>(context);
    std::lock_guard lock(self.mutex);
    if (self.thrown || (fraction < 1 && self.sinceLast.seconds() < self.options.progressInterval))
      return;
    self.sinceLast = Stopwatch();
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

Program::Program(KernelHandle given, gpu::Devices devices) : handle(std::move(given)) {
  if (!handle)
    throw std::invalid_argument("there is no kernel to run");
  checkDescriptor(*handle);
  executor.emplace(handle, std::move(devices));
}

Program::Program(std::shared_ptr<const PreparedProgram> interpreted, Instruments look)
    : prepared(std::move(interpreted)), look(std::move(look)) {}

const nb_kernel_descriptor &Program::descriptor() const {
  return executor ? *handle : prepared->descriptor();
}

RunResult Program::run(const void *const *arguments, const ImageShape &shape,
                       const RenderedRows &rows, void *const *outputs, const RunOptions &options) {
  if (!options.onDevice.empty() && !isOnGpu())
    throw std::invalid_argument("'" + options.onDevice.begin()->first +
                                "' is given in the memory of a GPU, and the program runs on the "
                                "processor; give an array of the host, or name the device");
  if (executor)
    return executor->run(arguments, shape, rows, outputs, options);
  Callbacks callbacks = {options};
  nb_interpret_options c = {};
  c.threads = resolveThreads(options.threads);
  c.json = look.json;
  c.check_finite = look.checkFinite;
  c.progress = options.progress ? Callbacks::progress : nullptr;
  c.cancelled = Callbacks::cancelled;
  c.context = &callbacks;

  RunResult result;
  result.threads = c.threads;
  const Stopwatch sinceStart;
  result.report = prepared->run(arguments, c, outputs);
  result.runSeconds = sinceStart.seconds();
  if (callbacks.thrown)
    std::rethrow_exception(callbacks.thrown);
  result.cancelled = options.cancel && options.cancel->requested();
  return result;
}

std::string Program::trace(const void *const *arguments, const PixelIndex &pixel) const {
  nb_interpret_options c = {};
  c.threads = 1;
  c.trace = 1;
  c.trace_panel = pixel.panel;
  c.trace_slow = pixel.slow;
  c.trace_fast = pixel.fast;
  void *const nothing[] = {nullptr};
  return prepared->run(arguments, c, nothing);
}

} // namespace nanobragg
