// How a kernel is launched on a GPU.
#ifndef NB_CONVERSION_GPULAUNCH_H
#define NB_CONVERSION_GPULAUNCH_H

#include "dialect/Names.h"
#include "lib/Target/GpuVendor.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::nb {

/// Threads of the launch that run in step.
inline int64_t warpOf(gpu::LaunchOp launch) {
  auto warp = launch->getAttrOfType<IntegerAttr>(names::warp);
  return warp ? warp.getInt() : nanobragg::usualWarp;
}
/// The limit of CUDA.
inline constexpr int64_t mostThreadsOfBlock = 1024;
/// Where the host runs a grid as loops: more than one, so that whatever depends on the block shows.
inline constexpr int64_t blocksOnHost = 2;

} // namespace mlir::nb

#endif
