// The commands of a GPU in a trace.
#ifndef NANOBRAGG_RUNTIME_GPU_TRACEDQUEUE_H
#define NANOBRAGG_RUNTIME_GPU_TRACEDQUEUE_H

#include "runtime/gpu/Device.h"

#include <memory>
#include <string>

namespace nanobragg::gpu {

/// The queue itself, where nothing is recorded (lib/Trace). Else one that waits for each command
/// and records how long it took, in a lane named after the device.
std::unique_ptr<Queue> traced(std::unique_ptr<Queue> queue, const std::string &device);

} // namespace nanobragg::gpu
#endif
