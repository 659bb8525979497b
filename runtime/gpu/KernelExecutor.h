// A kernel on the processor or on a GPU.
#ifndef NANOBRAGG_RUNTIME_GPU_KERNELEXECUTOR_H
#define NANOBRAGG_RUNTIME_GPU_KERNELEXECUTOR_H

#include "runtime/gpu/Device.h"
#include "runtime/processor/KernelRunner.h"

#include <memory>

namespace nanobragg {

namespace gpu {
class Runners;
}

/// Runs a kernel again and again, wherever it belongs: on the processor, or on a GPU, in whose
/// memory it keeps what the next run will need too. To be used by one thread at a time.
class KernelExecutor {
public:
  /// A kernel of a GPU runs on `devices`, or if there are none on the first one. Throws
  /// std::runtime_error when there is none or it cannot run the kernel.
  explicit KernelExecutor(KernelHandle kernel, gpu::Devices devices = {});
  ~KernelExecutor();
  KernelExecutor(KernelExecutor &&) noexcept;

  bool isOnGpu() const { return gpus != nullptr; }

  /// As runKernel.
  RunResult run(const void *const *arguments, const ImageShape &shape, const RenderedRows &rows,
                void *const *outputs, const RunOptions &options);

private:
  KernelHandle kernel;
  std::unique_ptr<gpu::Runners> gpus; ///< null: the processor
};

} // namespace nanobragg
#endif
