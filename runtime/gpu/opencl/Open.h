// The way into this folder.
#ifndef NANOBRAGG_RUNTIME_OPENCL_OPEN_H
#define NANOBRAGG_RUNTIME_OPENCL_OPEN_H

#include "runtime/gpu/Device.h"

namespace nanobragg::opencl {

/// The device of this number: all platforms in the loader's order, the GPUs of all of them first.
/// Throws gpu::NoGpu.
std::shared_ptr<gpu::Device> openDevice(int number);
/// How many there are. Throws gpu::NoGpu.
int countDevices();

} // namespace nanobragg::opencl
#endif
