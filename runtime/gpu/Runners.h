// Runs a kernel on GPUs.
#ifndef NANOBRAGG_RUNTIME_GPU_RUNNERS_H
#define NANOBRAGG_RUNTIME_GPU_RUNNERS_H

#include "runtime/gpu/Runner.h"

#include <memory>
#include <vector>

namespace nanobragg::gpu {

/// One kernel on one device, or on several that are alike, to which an image is dealt. To be used
/// by one thread at a time.
class Runners {
public:
  /// Loads the kernel, which keeps the devices open. Throws std::runtime_error.
  Runners(KernelHandle kernel, const Devices &devices);

  /// As runKernel of a kernel of the processor; the same bits on any number of devices. Throws
  /// std::runtime_error; then all memory that the devices had for it is free again.
  RunResult run(const void *const *arguments, const ImageShape &shape, const RenderedRows &rows,
                void *const *outputs, const RunOptions &options);

private:
  void checkOnDevice(const void *const *arguments, const ImageShape &shape,
                     const RunOptions &options) const;

  KernelHandle kernel;
  std::vector<std::unique_ptr<Runner>> runners;
};

} // namespace nanobragg::gpu
#endif
