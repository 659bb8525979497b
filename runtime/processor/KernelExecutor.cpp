#include "runtime/kernels/FixedCounts.h"
#include "runtime/gpu/cuda/Runner.h"
#include "runtime/processor/KernelRunner.h"

namespace nanobragg {

static std::unique_ptr<cuda::Runner> gpuFor(const KernelHandle &kernel,
                                            std::shared_ptr<cuda::Device> device) {
  if (!kernel->device)
    return nullptr;
  return std::make_unique<cuda::Runner>(kernel,
                                        device ? std::move(device) : cuda::Device::open(0));
}

KernelExecutor::KernelExecutor(KernelHandle handle, std::shared_ptr<cuda::Device> device)
    : kernel(std::move(handle)), gpu(gpuFor(kernel, std::move(device))) {}
KernelExecutor::~KernelExecutor() = default;
KernelExecutor::KernelExecutor(KernelExecutor &&) noexcept = default;

RunResult KernelExecutor::run(const void *const *arguments, const ImageShape &shape,
                              const RenderedRows &rows, void *const *outputs,
                              const RunOptions &options) {
  if (!gpu)
    return runKernel(*kernel, arguments, shape, rows, outputs, options);
  checkFixed(*kernel, arguments);
  return gpu->run(arguments, shape, rows, outputs, options);
}

} // namespace nanobragg
