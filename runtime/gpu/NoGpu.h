// There is no GPU.
#ifndef NANOBRAGG_RUNTIME_GPU_NOGPU_H
#define NANOBRAGG_RUNTIME_GPU_NOGPU_H

#include <stdexcept>

namespace nanobragg::gpu {

/// This machine has no GPU that can be used: what --device=auto passes over.
struct NoGpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace nanobragg::gpu
#endif
