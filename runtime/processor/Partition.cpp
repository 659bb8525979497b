#include "runtime/processor/Partition.h"

namespace nanobragg {

Partition Partition::intoTiles(const ImageShape &shape, std::int64_t rowsPerTile) {
  Partition result;
  forEachTile({0, shape.panels * shape.slow}, shape, rowsPerTile, [&](const nb_tile &tile) {
    const std::int64_t first = tile.panel * shape.slow;
    result.parts.push_back({first + tile.slow_begin, first + tile.slow_end});
  });
  return result;
}

Partition Partition::forSums(const ImageShape &shape, const RenderedRows &rows,
                             std::int64_t accumulatorSize, bool culled) {
  constexpr std::int64_t allParts = 64, enoughParts = 16, culledRows = 64;
  constexpr std::int64_t fewBytes = std::int64_t(2) << 20, mostBytes = std::int64_t(64) << 20;
  const std::int64_t all = shape.panels * shape.slow;
  const std::int64_t first = std::clamp<std::int64_t>(rows.begin, 0, shape.slow);
  const std::int64_t last = std::clamp<std::int64_t>(rows.end, first, shape.slow);
  // Without a region of interest in it, an image is only cleared.
  const bool any = last > first;
  const std::int64_t perPanel = any ? last - first : shape.slow, begin = any ? first : 0;
  const std::int64_t rendered = shape.panels * perPanel;
  const std::int64_t mostParts =
      culled ? std::clamp(rendered / culledRows, enoughParts, allParts) : allParts;
  const std::int64_t size = std::max<std::int64_t>(accumulatorSize, 1);
  const std::int64_t wanted = std::max(fewBytes / size, std::min(enoughParts, mostBytes / size));
  const std::int64_t count =
      std::clamp<std::int64_t>(wanted, 1, std::clamp<std::int64_t>(rendered, 1, mostParts));
  // The k-th rendered row among all rows.
  const auto position = [&](std::int64_t k) {
    return k / perPanel * shape.slow + begin + k % perPanel;
  };
  Partition result;
  for (std::int64_t i = 0; i != count; ++i) {
    const std::int64_t from = i == 0 ? 0 : position(rendered * i / count);
    const std::int64_t to = i + 1 == count ? all : position(rendered * (i + 1) / count);
    result.parts.push_back({from, to});
  }
  return result;
}

std::int64_t chooseRowsPerTile(std::int64_t rows, int threads) {
  constexpr std::int64_t tilesPerThread = 128, most = 16;
  return std::clamp<std::int64_t>(rows / (tilesPerThread * threads), 1, most);
}

std::int64_t renderedRows(const nb_tile &tile, const RenderedRows &rows) {
  const std::int64_t begin = std::max(tile.slow_begin, rows.begin);
  const std::int64_t end = std::min(tile.slow_end, rows.end);
  return std::max<std::int64_t>(end - begin, 0);
}

std::int64_t renderedRows(const RowRange &part, const ImageShape &shape, const RenderedRows &rows) {
  std::int64_t sum = 0;
  forEachTile(part, shape, shape.slow,
              [&](const nb_tile &tile) { sum += renderedRows(tile, rows); });
  return sum;
}

} // namespace nanobragg
