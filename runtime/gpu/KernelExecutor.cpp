#include "runtime/gpu/KernelExecutor.h"

#include "runtime/gpu/Runner.h"
#include "runtime/processor/FixedCounts.h"

namespace nanobragg {

static std::unique_ptr<gpu::Runner> gpuFor(const KernelHandle &kernel,
                                           std::shared_ptr<gpu::Device> device) {
  if (!kernel->device)
    return nullptr;
  return std::make_unique<gpu::Runner>(kernel, device ? device : gpu::openDeviceFor(*kernel));
}

KernelExecutor::KernelExecutor(KernelHandle handle, std::shared_ptr<gpu::Device> gpu)
    : kernel(std::move(handle)), device(gpuFor(kernel, std::move(gpu))) {}
KernelExecutor::~KernelExecutor() = default;
KernelExecutor::KernelExecutor(KernelExecutor &&) noexcept = default;

RunResult KernelExecutor::run(const void *const *arguments, const ImageShape &shape,
                              const RenderedRows &rows, void *const *outputs,
                              const RunOptions &options) {
  if (!device)
    return runKernel(*kernel, arguments, shape, rows, outputs, options);
  checkFixed(*kernel, arguments);
  return device->run(arguments, shape, rows, outputs, options);
}

} // namespace nanobragg
