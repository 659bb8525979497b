// One run, before the device is asked.
#ifndef NANOBRAGG_RUNTIME_GPU_RUNPLAN_H
#define NANOBRAGG_RUNTIME_GPU_RUNPLAN_H

#include "runtime/gpu/ArgumentBlock.h"
#include "runtime/gpu/Tiles.h"
#include "runtime/processor/AlignedMemory.h"

#include <vector>

namespace nanobragg::gpu {

/// Sizes, launches, and the block that the kernel will read, in which only addresses are missing.
struct RunPlan {
  /// Runs the kernel's prepare. `residentBlocks` are those that each of the GPUs can hold at a
  /// time.
  RunPlan(const nb_kernel_descriptor &kernel, const void *const *arguments, const ImageShape &shape,
          std::int64_t residentBlocks, int devices);

  /// Blocks of the launch for this tile.
  std::int64_t blocksOf(const nb_tile &tile) const {
    return sums ? blocksOfSums : (tile.slow_end - tile.slow_begin) * chunksOfRow;
  }
  /// How many portions so many launches are dealt in. With sums it depends on sizes only.
  std::size_t portionsOf(std::size_t launches) const;
  std::int64_t warps() const { return blocksOfSums * warpsOfBlock; }
  std::size_t accumulatorsBytes() const { return std::size_t(warps() * accumulatorBytes); }

  ImageShape shape;
  int devices = 1;
  std::int64_t leastTiles = 1; ///< that each panel should have
  std::int64_t chunksOfRow = 0, warpsOfBlock = 0;
  std::uint32_t warp = 0; ///< threads that run in step
  std::int64_t workspaceBytes = 0;
  AlignedMemory workspace;
  std::vector<nb_tile> tiles;
  double samplesOfPixel = 1;
  std::vector<std::size_t> imageBytes; ///< for each output; 0: it is not an image

  bool sums = false; ///< over pixels
  std::int64_t accumulatorBytes = 0, blocksOfSums = 0;

  ArgumentBlock block;
  std::vector<std::size_t> valuesAt; ///< places of the parameters' values; of grids without data
  std::size_t pointersAt = 0, outputsAt = 0, tilesAt = 0, workspaceAt = 0;
};

} // namespace nanobragg::gpu
#endif
