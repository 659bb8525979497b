// The way into this folder.
#ifndef NANOBRAGG_RUNTIME_CUDA_OPEN_H
#define NANOBRAGG_RUNTIME_CUDA_OPEN_H

#include "runtime/gpu/Device.h"

namespace nanobragg::cuda {

/// The GPU of this number in the order of the CUDA driver. Throws gpu::NoGpu.
std::shared_ptr<gpu::Device> openDevice(int number);
/// How many there are. Throws gpu::NoGpu.
int countDevices();

} // namespace nanobragg::cuda
#endif
