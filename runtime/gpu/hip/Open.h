// The way into this folder.
#ifndef NANOBRAGG_RUNTIME_HIP_OPEN_H
#define NANOBRAGG_RUNTIME_HIP_OPEN_H

#include "runtime/gpu/Device.h"

namespace nanobragg::hip {

/// The GPU of this number in the order of AMD's driver. Throws gpu::NoGpu.
std::shared_ptr<gpu::Device> openDevice(int number);
/// How many there are. Throws gpu::NoGpu.
int countDevices();

} // namespace nanobragg::hip
#endif
