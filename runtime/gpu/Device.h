// A GPU as the rest of the runtime sees it.
//
// Each vendor's driver stands behind this interface in a folder of its own, runtime/gpu/cuda for
// NVIDIA's. Nothing outside that folder includes a header of it.
#ifndef NANOBRAGG_RUNTIME_GPU_DEVICE_H
#define NANOBRAGG_RUNTIME_GPU_DEVICE_H

#include "lib/Target/GpuVendor.h"
#include "runtime/gpu/NoGpu.h"
#include "runtime/processor/KernelRunner.h"

#include <memory>
#include <string>

namespace nanobragg::gpu {

/// One kernel on one GPU, with the memory that it keeps there from run to run. To be used by one
/// thread at a time.
class Runner {
public:
  virtual ~Runner() = default;
  /// As runKernel of a kernel of the processor. Throws std::runtime_error; then all memory that the
  /// runner had on the device is free again.
  virtual RunResult run(const void *const *arguments, const ImageShape &shape,
                        const RenderedRows &rows, void *const *outputs,
                        const RunOptions &options) = 0;
};

/// One GPU. Safe to use from several threads.
class Device {
public:
  virtual ~Device() = default;
  /// The chip that its kernels are made for: "sm_90".
  virtual std::string chip() const = 0;
  /// For people: "NVIDIA H200 (cuda:0, sm_90)".
  virtual std::string describe() const = 0;
  /// Loads the kernel, which keeps the device open. Throws std::runtime_error.
  virtual std::unique_ptr<Runner> load(KernelHandle kernel) = 0;
};

/// The GPU of this number in the order of the vendor's driver. Throws NoGpu.
std::shared_ptr<Device> openDevice(const GpuVendor &vendor, int number);
/// The first GPU of any vendor. Throws NoGpu with what the first vendor's driver says.
std::shared_ptr<Device> openAnyDevice();
/// The first GPU of the vendor whose code the kernel holds. Throws NoGpu.
std::shared_ptr<Device> openDeviceFor(const nb_kernel_descriptor &kernel);

} // namespace nanobragg::gpu
#endif
