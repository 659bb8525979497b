#include "runtime/gpu/Tiles.h"

#include <algorithm>

namespace nanobragg::gpu {

std::vector<nb_tile> planTiles(const ImageShape &shape, double samplesPerPixel,
                               std::int64_t threadsOfBlock, std::int64_t residentBlocks,
                               std::int64_t wanted) {
  constexpr double mostSamples = 2e9;
  const std::int64_t blocksOfRow = (shape.fast + threadsOfBlock - 1) / threadsOfBlock;
  const std::int64_t least = (residentBlocks + blocksOfRow - 1) / blocksOfRow;
  const double samplesOfRow = samplesPerPixel * double(shape.fast);
  const auto most = std::int64_t(std::min(mostSamples / samplesOfRow, double(shape.slow)));
  const std::int64_t rows = std::clamp<std::int64_t>(std::max(least, most), 1, shape.slow);
  const std::int64_t pieces =
      std::max((shape.slow + rows - 1) / rows, std::min(wanted, shape.slow));
  std::vector<nb_tile> tiles;
  for (std::int64_t panel = 0; panel != shape.panels; ++panel)
    for (std::int64_t i = 0; i != pieces; ++i)
      tiles.push_back({panel, shape.slow * i / pieces, shape.slow * (i + 1) / pieces, nullptr});
  return tiles;
}

std::int64_t blocksForSums(std::int64_t residentBlocks, std::int64_t accumulatorBytes,
                           std::int64_t warpsOfBlock) {
  constexpr std::int64_t mostBytes = 1000000000, least = 2;
  const std::int64_t most = mostBytes / std::max<std::int64_t>(accumulatorBytes * warpsOfBlock, 1);
  return std::max(least, std::min(2 * residentBlocks, most));
}

void Pace::took(double samples, double seconds) {
  constexpr double wanted = 0.2, fastest = 1e-3; // shorter times say little about the GPU
  budget = samples / std::max(seconds, fastest) * wanted;
}

} // namespace nanobragg::gpu
