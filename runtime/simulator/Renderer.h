// An experiment on either engine.
//
// The simulator object: decides once which engine renders, the fused kernel or the interpreter,
// and keeps to it. Both give the same image; the interpreter can also say how it came about.
#ifndef NANOBRAGG_RENDERER_H
#define NANOBRAGG_RENDERER_H

#include "nanobragg/Engine.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/processor/KernelRunner.h"

#include <optional>
#include <string>

namespace nanobragg {

/// What the interpreter looks at besides making the image.
struct Instrumentation {
  std::string probe{};      ///< report on the values whose names match, with * and ?
  bool json = false;        ///< that report as JSON
  bool checkFinite = false; ///< NaN or infinity is an error that says where it first appears

  bool any() const { return !probe.empty() || checkFinite; }
};

struct PixelIndex {
  std::int64_t panel = 0, slow = 0, fast = 0;
};

class Renderer {
public:
  /// Finds the GPU if the request's choice means one. Compiles the kernel unless `request.engine`
  /// or the environment, which is read here and not again, asks for the interpreter. When compiling
  /// fails and `fallback` is allowed, the interpreter takes over. Throws std::runtime_error with
  /// the compiler's reason otherwise. The experiment must outlive the renderer; numbers changed in
  /// it are seen by the next run.
  Renderer(KernelProvider &kernels, KernelRequest request, const Experiment &experiment,
           bool fallback = true);

  Engine engine() const { return runner ? Engine::Fused : Engine::Interpreter; }
  /// Why the kernel could not be compiled, when the interpreter had to take over.
  const std::optional<std::string> &fallbackReason() const { return reason; }
  /// Why the processor renders though there is a GPU, when nobody insists on it.
  const std::optional<std::string> &deviceFallbackReason() const { return deviceReason; }
  /// What the code was generated for; "interpreter" without code.
  std::string target() const;

  ImageShape shape() const;
  /// As KernelRunner::run.
  RunResult run(std::span<float> image, const RunOptions &options = {});
  RunResult run(std::span<double> image, const RunOptions &options = {});

  /// The interpreter's image whatever the engine, with instrumentation; what it reports goes to
  /// `report`.
  RunResult interpret(std::span<float> image, const RunOptions &options,
                      const Instrumentation &instrumentation, std::string &report);
  RunResult interpret(std::span<double> image, const RunOptions &options,
                      const Instrumentation &instrumentation, std::string &report);
  /// How one pixel comes about, as lines `TRACE key value`.
  std::string trace(const PixelIndex &pixel);

private:
  bool renderOnGpu();
  RunResult interpret(void *image, std::int64_t pixels, ImageType type, const RunOptions &options,
                      const Instrumentation &instrumentation, std::string &report);

  KernelProvider &kernels;
  KernelRequest request;
  const Experiment &experiment;
  KernelHandle kernel;
  std::optional<KernelRunner> runner; ///< of the fused engine
  std::optional<std::string> reason, deviceReason;
};

} // namespace nanobragg
#endif
