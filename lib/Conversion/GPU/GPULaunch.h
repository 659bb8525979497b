// How a kernel is launched on a GPU.
#ifndef NB_CONVERSION_GPULAUNCH_H
#define NB_CONVERSION_GPULAUNCH_H

#include "lib/Target/GpuVendor.h"

#include <cstdint>

namespace mlir::nb {

using nanobragg::threadsOfWarp;
/// What CUDA allows.
inline constexpr int64_t mostThreadsOfBlock = 1024;
/// Where the host runs a grid as loops: more than one, so that whatever depends on the block shows.
inline constexpr int64_t blocksOnHost = 2;

} // namespace mlir::nb

#endif
