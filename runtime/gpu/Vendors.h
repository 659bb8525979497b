// The ways into the folders of the vendors: the device of a number, and how many there are. Both
// throw gpu::NoGpu.
#ifndef NANOBRAGG_RUNTIME_GPU_VENDORS_H
#define NANOBRAGG_RUNTIME_GPU_VENDORS_H

#include "runtime/gpu/Device.h"

/// In the order of the CUDA driver.
namespace nanobragg::cuda {
std::shared_ptr<gpu::Device> openDevice(int number);
int countDevices();
} // namespace nanobragg::cuda

/// In the order of AMD's driver.
namespace nanobragg::hip {
std::shared_ptr<gpu::Device> openDevice(int number);
int countDevices();
} // namespace nanobragg::hip

/// All platforms in the loader's order, the GPUs of all of them first.
namespace nanobragg::opencl {
std::shared_ptr<gpu::Device> openDevice(int number);
int countDevices();
} // namespace nanobragg::opencl

#endif
