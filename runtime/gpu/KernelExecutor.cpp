#include "runtime/gpu/KernelExecutor.h"

#include "runtime/gpu/Runners.h"
#include "runtime/processor/FixedCounts.h"

namespace nanobragg {

static std::unique_ptr<gpu::Runners> runnersFor(const KernelHandle &kernel,
                                                const gpu::Devices &devices) {
  if (!kernel->device)
    return nullptr;
  return std::make_unique<gpu::Runners>(kernel,
                                        devices.empty() ? gpu::openDevicesFor(*kernel) : devices);
}

KernelExecutor::KernelExecutor(KernelHandle handle, gpu::Devices devices)
    : kernel(std::move(handle)), gpus(runnersFor(kernel, devices)) {}
KernelExecutor::~KernelExecutor() = default;
KernelExecutor::KernelExecutor(KernelExecutor &&) noexcept = default;

RunResult KernelExecutor::run(const void *const *arguments, const ImageShape &shape,
                              const RenderedRows &rows, void *const *outputs,
                              const RunOptions &options) {
  if (!gpus)
    return runKernel(*kernel, arguments, shape, rows, outputs, options);
  checkFixed(*kernel, arguments);
  return gpus->run(arguments, shape, rows, outputs, options);
}

} // namespace nanobragg
