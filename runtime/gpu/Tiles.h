// The tile that one launch renders.
#ifndef NANOBRAGG_RUNTIME_GPU_TILES_H
#define NANOBRAGG_RUNTIME_GPU_TILES_H

#include "runtime/processor/KernelRunner.h"

#include <chrono>
#include <vector>

namespace nanobragg::gpu {

/// Each panel as one launch, or as several equal ones where it has more than some 10^9 samples, of
/// no fewer blocks than the GPU holds at a time; as `wanted` launches of a panel where these are
/// more. Depends on sizes and the chip only, so that sums are the same bits for every run.
std::vector<nb_tile> planTiles(const ImageShape &shape, double samplesPerPixel,
                               std::int64_t threadsOfBlock, std::int64_t residentBlocks,
                               std::int64_t wanted = 1);

/// How many blocks a launch with sums over pixels has: as many as fill the GPU twice, fewer where
/// the accumulators of their warps would take more than 1 GB. The same for every run on a chip.
std::int64_t blocksForSums(std::int64_t residentBlocks, std::int64_t accumulatorBytes,
                           std::int64_t warpsOfBlock);

/// How many samples to launch before it is time to look at the clock, report progress and listen
/// to who wants to cancel: about 0.2 s of them.
class Pace {
public:
  double samples() const { return budget; }
  void took(double samples, double seconds);

private:
  double budget = 2e9;
};

} // namespace nanobragg::gpu
#endif
