// Rows of all panels cut into parts.
#ifndef NANOBRAGG_RUNTIME_PARTITION_H
#define NANOBRAGG_RUNTIME_PARTITION_H

#include "runtime/processor/KernelRunner.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nanobragg {

/// Rows of all panels, counted through: row `slow` of panel `panel` is panel * shape.slow + slow.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};

/// Work that is run in order, by one thread at a time.
class Partition {
public:
  /// Tiles that do not cross panels: for kernels whose rows have nothing to do with each other.
  static Partition intoTiles(const ImageShape &shape, std::int64_t rowsPerTile);

  /// Parts with an accumulator each, with equal numbers of rendered rows. Depends on sizes only, so
  /// that sums are the same bits for any number of threads. At most 64; fewer, but 16, where their
  /// accumulators would take more than 2 MB together; fewer still, but one, where 64 MB. `culled`:
  /// of 64 rows or more, but at least 16, since reflections are looked for in each part.
  static Partition forSums(const ImageShape &shape, const RenderedRows &rows,
                           std::int64_t accumulatorSize, bool culled = false);

  std::int64_t size() const { return std::int64_t(parts.size()); }
  const RowRange &operator[](std::int64_t i) const { return parts[std::size_t(i)]; }

private:
  std::vector<RowRange> parts;
};

/// Enough tiles that the threads finish together, few enough that starting one costs nothing.
std::int64_t chooseRowsPerTile(std::int64_t rows, int threads);

/// Rows that lie in the region of interest: the others cost next to nothing and would make a
/// progress bar lie.
std::int64_t renderedRows(const nb_tile &tile, const RenderedRows &rows);
std::int64_t renderedRows(const RowRange &part, const ImageShape &shape, const RenderedRows &rows);

/// The part as tiles, which do not cross panels, in order.
template <typename Visit>
void forEachTile(const RowRange &part, const ImageShape &shape, std::int64_t rowsPerTile,
                 Visit visit) {
  for (std::int64_t row = part.begin; row < part.end;) {
    const std::int64_t panel = row / shape.slow, slow = row % shape.slow;
    const std::int64_t rows = std::min({rowsPerTile, shape.slow - slow, part.end - row});
    visit(nb_tile{panel, slow, slow + rows, nullptr});
    row += rows;
  }
}

} // namespace nanobragg
#endif
