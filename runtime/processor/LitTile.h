// The lists of one tile: which blocks of pixels have light, of which beams and bases.
#ifndef NANOBRAGG_RUNTIME_LITTILE_H
#define NANOBRAGG_RUNTIME_LITTILE_H

#include "runtime/processor/Reach.h"

#include <functional>
#include <utility>

namespace nanobragg {

/// Memory of one thread, which is used again for every tile.
class LitTile {
public:
  explicit LitTile(const Reach &reach) : reach(reach) {}

  /// Calls `run` with the lists of the tile; more than once, with some of the blocks each, where
  /// they would be long.
  void forEachList(const nb_tile &tile, const std::function<void(const nb_lit &)> &run);

  /// Counted over all tiles: pairs of a pixel and an orientation, times samples of a pixel.
  double samplesLit = 0, samplesEvaluated = 0;

private:
  struct Hit {
    std::uint32_t block, orientation;
  };
  void findHits(const nb_tile &tile);
  bool findByPoints(const nb_tile &tile);
  void findHits(const nb_tile &tile, std::int64_t beam, std::int64_t group);
  struct BlockRange {
    std::int32_t columnFirst, columnLast, rowFirst, rowLast;
  };
  void addSpots(std::size_t count, std::uint32_t orientation);
  void addHits(const BlockRange &spot, std::uint32_t orientation);
  /// Rows of blocks, of which the last may end outside.
  std::int64_t blockRows() const {
    return (rows.last - rows.first + reach.blockRows) / reach.blockRows;
  }
  std::size_t blocks() const { return std::size_t(blockRows() * blocksPerRow); }
  void setBit(Hit hit) {
    mask[hit.block * wordsOfBlock + hit.orientation / 64] |= std::uint64_t(1)
                                                             << hit.orientation % 64;
  }
  void chooseMask();
  void beginRows(Range some);
  void runPoints(const nb_tile &tile, const std::function<void(const nb_lit &)> &run);
  void runAverages(const nb_tile &tile, const std::function<void(const nb_lit &)> &run);
  void runSpots(const nb_tile &tile, const std::function<void(const nb_lit &)> &run);
  void runSpotsOfRows(const nb_tile &tile, const std::function<void(const nb_lit &)> &run);
  void runListedSpots(const std::function<void(const nb_lit &)> &run);
  void addAveraged(std::int64_t firstBlock, std::int64_t count,
                   const std::function<void(const nb_lit &)> &run);
  void runMask(const std::function<void(const nb_lit &)> &run);
  void runIfLong(const std::function<void(const nb_lit &)> &run);
  void runRest(const std::function<void(const nb_lit &)> &run);
  void sortHits(std::size_t blocks);
  void runHits(const std::function<void(const nb_lit &)> &run);
  void runEverything(const std::function<void(const nb_lit &)> &run);
  void beginLists();
  std::size_t inners() const { return inner.size() + reflection.size(); }
  std::pair<std::int32_t, std::int32_t> firstPixelOf(std::int64_t block) const;
  void addBlock(std::int64_t block);
  nb_lit lists();

  const Reach &reach;
  Range rows;               ///< the tile's, in the region of interest
  std::int32_t slowEnd = 0; ///< behind them
  std::int64_t blocksPerRow = 0;

  // Candidates of the tile in one group.
  std::vector<double> reduced[3];
  std::vector<float> rounded[3]; ///< the same in single precision
  std::vector<unsigned char> near;
  // The candidates near the sphere for one basis, and their places.
  std::vector<double> lit[3];
  std::vector<std::int32_t> spots[8], sizes[4]; ///< sizes: which spots have that loops::SpotSize

  Directions directions;            ///< the directions of a row, where samples are looked at
  std::vector<std::int32_t> wordOf; ///< for each pixel, for the first bit of its block

  bool inMask = false; ///< the lit samples are in the mask, not in the hits
  std::size_t wordsOfBlock = 0;
  std::vector<std::uint64_t> mask;     ///< a bit for each block and orientation
  std::vector<std::uint64_t> unsorted; ///< a block's
  std::vector<Hit> hits, sorted;

  PlaceMemory places; ///< for averages, and what was found there
  FoundReflections averaged;
  std::vector<loops::AveragedHit> averagedByBlock;
  struct BlockSpan {
    std::uint32_t first, last;
    std::int32_t spot;
  };
  std::vector<BlockSpan> spans; ///< blocks of one row that a spot lights

  std::vector<std::uint32_t> hitsOfBlock;
  std::vector<std::int32_t> slow, fast, outerBegin, outer, innerBegin, inner;
  std::vector<std::int64_t> reflection; ///< closed averages have these in place of inner
};

} // namespace nanobragg
#endif
