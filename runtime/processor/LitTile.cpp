#include "runtime/processor/LitTile.h"

#include "runtime/processor/Flags.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace nanobragg {
namespace {

/// Lists of as many entries stay in the cache.
constexpr std::size_t longList = std::size_t(1) << 13;
constexpr std::int64_t wordsOfPoints = std::int64_t(1) << 15;
constexpr std::size_t mostMask = std::size_t(1) << 22; ///< words

} // namespace

void LitTile::addSpots(std::size_t count, std::uint32_t orientation) {
  const loops::Pixels spot{spots[0].data(), spots[1].data(), spots[2].data(), spots[3].data()};
  if (reach.hasDepth)
    loops::coverBoth(spot, {spots[4].data(), spots[5].data(), spots[6].data(), spots[7].data()},
                     std::int64_t(count));
  samplesLit +=
      double(loops::blocksOfSpots(spot,
                                  {std::int32_t(reach.fast.first), std::int32_t(reach.fast.last),
                                   std::int32_t(rows.first), std::int32_t(rows.last)},
                                  {1 / double(reach.blockColumns), 1 / double(reach.blockRows)},
                                  std::int64_t(count), near.data()));
  // No branch here depends on what lies where, as far as that can be.
  std::array<std::size_t, 4> found{};
  for (std::size_t i = 0; i != count; ++i)
    for (unsigned char size : {loops::small, loops::medium, loops::large}) {
      sizes[size][found[size]] = std::int32_t(i);
      found[size] += near[i] == size;
    }
  const auto forEach = [&](loops::SpotSize size, auto &&add) {
    for (std::size_t n = 0; n != found[size]; ++n) {
      const auto i = std::size_t(sizes[size][n]);
      add(BlockRange{spots[0][i], spots[1][i], spots[2][i], spots[3][i]});
    }
  };
  if (!inMask) {
    for (auto size : {loops::small, loops::medium, loops::large})
      forEach(size, [&](const BlockRange &spot) { addHits(spot, orientation); });
    return;
  }
  std::uint64_t *const words = mask.data() + orientation / 64;
  const std::uint64_t bit = std::uint64_t(1) << orientation % 64;
  const std::size_t nextRow = std::size_t(blocksPerRow) * wordsOfBlock;
  const auto setBits = [&](const BlockRange &spot, std::int32_t rowsOf, std::int32_t columnsOf) {
    for (std::int32_t r = 0; r != rowsOf; ++r) {
      std::uint64_t *const row = words + std::size_t(spot.rowFirst + r) * nextRow;
      const std::uint64_t bitOfRow = spot.rowFirst + r <= spot.rowLast ? bit : 0;
      for (std::int32_t c = 0; c != columnsOf; ++c)
        row[std::size_t(std::min(spot.columnFirst + c, spot.columnLast)) * wordsOfBlock] |=
            bitOfRow;
    }
  };
  forEach(loops::small, [&](const BlockRange &spot) {
    setBits(spot, loops::rowsOfSmall, loops::columnsOfSmall);
  });
  forEach(loops::medium, [&](const BlockRange &spot) {
    setBits(spot, loops::rowsOfMedium, loops::columnsOfMedium);
  });
  forEach(loops::large, [&](const BlockRange &spot) {
    setBits(spot, spot.rowLast - spot.rowFirst + 1, spot.columnLast - spot.columnFirst + 1);
  });
}

void LitTile::addHits(const BlockRange &spot, std::uint32_t orientation) {
  for (std::int32_t row = spot.rowFirst; row <= spot.rowLast; ++row)
    for (std::int32_t column = spot.columnFirst; column <= spot.columnLast; ++column)
      hits.push_back({std::uint32_t(row * std::int32_t(blocksPerRow) + column), orientation});
}

void LitTile::findHits(const nb_tile &tile, std::int64_t beamNumber, std::int64_t groupNumber) {
  const Group &group = reach.group(tile.panel, beamNumber, groupNumber);
  const auto &all = group.candidates;
  const auto begin =
      std::lower_bound(all.begin(), all.end(), rows.first - group.mostRows,
                       [](const Candidate &c, std::int64_t row) { return c.firstRow < row; });
  for (auto &axis : reduced)
    axis.clear();
  std::array<double, 3> most{};
  for (auto c = begin; c != all.end() && c->firstRow <= rows.last; ++c) {
    if (c->lastRow < rows.first)
      continue;
    const Vector v = reach.reduced(*c);
    reduced[0].push_back(v.x);
    reduced[1].push_back(v.y);
    reduced[2].push_back(v.z);
    most = {std::max(most[0], std::fabs(v.x)), std::max(most[1], std::fabs(v.y)),
            std::max(most[2], std::fabs(v.z))};
  }
  const std::size_t count = reduced[0].size();
  if (count == 0)
    return;
  // Loops in lanes take whole vectors; what is behind the end does not matter.
  const std::size_t whole = wholeVectors(count);
  near.resize(whole);
  for (std::size_t c = 0; c != 3; ++c) {
    reduced[c].resize(whole);
    rounded[c].assign(reduced[c].begin(), reduced[c].end());
  }
  const IncidentBeam &beam = reach.beam[std::size_t(beamNumber)];
  loops::Shell shell{{beam.k.x, beam.k.y, beam.k.z}, {}, beam.radius, reach.halfAxis};
  for (auto &axis : lit)
    axis.resize(whole);
  for (auto &spot : spots)
    spot.resize(whole);
  for (auto &list : sizes)
    list.resize(whole);
  const std::int64_t last = std::min((groupNumber + 1) * reach.groupSize, reach.bases);
  for (std::int64_t basis = groupNumber * reach.groupSize; basis != last; ++basis) {
    const Matrix &ellipsoid = reach.ellipsoid[std::size_t(basis)];
    for (int c = 0; c != 3; ++c) {
      shell.ellipsoid[3 * c] = ellipsoid.column[std::size_t(c)].x;
      shell.ellipsoid[3 * c + 1] = ellipsoid.column[std::size_t(c)].y;
      shell.ellipsoid[3 * c + 2] = ellipsoid.column[std::size_t(c)].z;
    }
    loops::findNear(shell, rounded[0].data(), rounded[1].data(), rounded[2].data(), most.data(),
                    std::int64_t(whole), near.data());
    std::memset(near.data() + count, 0, near.size() - count);
    std::size_t found = 0;
    forEachFlag(near.data(), count, [&](std::size_t i) {
      for (std::size_t c = 0; c != 3; ++c)
        lit[c][found] = reduced[c][i];
      ++found;
    });
    if (found == 0)
      continue;
    for (std::size_t end = 0; end != (reach.hasDepth ? 2 : 1); ++end)
      loops::spotsOfEllipsoids(shell, reach.panel(tile.panel, int(end)), lit[0].data(),
                               lit[1].data(), lit[2].data(), std::int64_t(wholeVectors(found)),
                               {spots[4 * end].data(), spots[4 * end + 1].data(),
                                spots[4 * end + 2].data(), spots[4 * end + 3].data()});
    addSpots(found, std::uint32_t(beamNumber * reach.bases + basis));
    chooseMask();
  }
}

void LitTile::findHits(const nb_tile &tile) {
  hits.clear();
  inMask = false;
  wordsOfBlock = std::size_t(reach.beams * reach.bases + 63) / 64;
  for (std::int64_t beam = 0; beam != reach.beams; ++beam)
    for (std::int64_t group = 0; group != reach.groups(); ++group)
      findHits(tile, beam, group);
}

/// Looks at all samples of the tile. False where that cannot decide.
bool LitTile::findByPoints(const nb_tile &tile) {
  inMask = true;
  wordsOfBlock = std::size_t(reach.beams * reach.bases + 63) / 64;
  mask.assign(blocks() * wordsOfBlock, 0);
  wordOf.resize(std::size_t(reach.fast.last - reach.fast.first + 1));
  for (std::size_t pixel = 0; pixel != wordOf.size(); ++pixel)
    wordOf[pixel] =
        std::int32_t(pixel / std::size_t(reach.blockColumns)) * std::int32_t(wordsOfBlock);
  for (std::int64_t row = rows.first; row <= rows.last; ++row) {
    reach.directionsOf(tile.panel, row, reach.fast, directions);
    const PointSearch::Test test = reach.points->testFor(directions.longest);
    if (!test.possible)
      return false;
    const std::int64_t firstBlock = (row - rows.first) / reach.blockRows * blocksPerRow;
    reach.points->findLit(test,
                          {directions.x.data(), directions.y.data(), directions.z.data(),
                           reach.fast.last - reach.fast.first + 1, directions.kinds,
                           directions.stride},
                          {mask.data() + std::size_t(firstBlock) * wordsOfBlock, wordOf.data()});
  }
  std::size_t lit = 0;
  for (std::size_t block = 0; block != blocks(); ++block) {
    std::uint64_t *const words = mask.data() + block * wordsOfBlock;
    unsorted.assign(words, words + wordsOfBlock);
    std::fill_n(words, wordsOfBlock, 0);
    reach.points->sortBits(unsorted, words);
    for (std::size_t word = 0; word != wordsOfBlock; ++word)
      lit += std::size_t(__builtin_popcountll(words[word]));
  }
  samplesLit += double(lit) * double(reach.pixelsOfBlock());
  return true;
}

/// A bit for each orientation of each block costs less than a list of hits where there are many.
void LitTile::chooseMask() {
  const std::size_t words = blocks() * wordsOfBlock;
  if (inMask || words > mostMask || hits.size() <= words / 8)
    return;
  inMask = true;
  mask.assign(words + std::size_t(loops::rowsOfMedium * blocksPerRow) * wordsOfBlock, 0);
  for (Hit hit : hits)
    setBit(hit);
}

void LitTile::beginLists() {
  for (auto *list : {&slow, &fast, &outerBegin, &outer, &innerBegin, &inner})
    list->clear();
  reflection.clear();
}

/// The row and the column of it.
std::pair<std::int32_t, std::int32_t> LitTile::firstPixelOf(std::int64_t block) const {
  return {std::int32_t(rows.first + block / blocksPerRow * reach.blockRows),
          std::int32_t(reach.fast.first + block % blocksPerRow * reach.blockColumns)};
}

void LitTile::addBlock(std::int64_t block) {
  const auto [row, column] = firstPixelOf(block);
  slow.push_back(row);
  fast.push_back(column);
  outerBegin.push_back(std::int32_t(outer.size()));
}

nb_lit LitTile::lists() {
  outerBegin.push_back(std::int32_t(outer.size()));
  innerBegin.push_back(std::int32_t(inners()));
  return {
      std::int64_t(slow.size()), slow.data(),  fast.data(),       outerBegin.data(), outer.data(),
      innerBegin.data(),         inner.data(), reflection.data(), &slowEnd};
}

/// By block, and of each block in ascending order of orientations.
void LitTile::sortHits(std::size_t blocks) {
  if (hits.size() < blocks / 16) {
    std::sort(hits.begin(), hits.end(), [](Hit a, Hit b) {
      return a.block != b.block ? a.block < b.block : a.orientation < b.orientation;
    });
    return;
  }
  // They were found in the order of orientations.
  hitsOfBlock.assign(blocks, 0);
  for (Hit hit : hits)
    ++hitsOfBlock[hit.block];
  std::uint32_t position = 0;
  for (std::uint32_t &n : hitsOfBlock)
    position += std::exchange(n, position);
  sorted.resize(hits.size());
  for (Hit hit : hits)
    sorted[hitsOfBlock[hit.block]++] = hit;
  hits.swap(sorted);
}

/// Lists from the bits.
void LitTile::runMask(const std::function<void(const nb_lit &)> &run) {
  const auto all = std::int64_t(blocks());
  const loops::Bits bits{mask.data(),
                         std::int64_t(wordsOfBlock),
                         blocksPerRow,
                         reach.beams,
                         reach.bases,
                         std::int32_t(rows.first),
                         std::int32_t(reach.fast.first),
                         std::int32_t(reach.blockRows),
                         std::int32_t(reach.blockColumns)};
  // A block more than long lists have, and the ends.
  const std::size_t most = std::min(longList, std::size_t(all)) + 1;
  for (auto *list : {&slow, &fast, &outerBegin})
    list->resize(std::max(list->size(), most + 1));
  const auto orientations = std::size_t(reach.beams * reach.bases);
  inner.resize(std::max(inner.size(), longList + orientations + std::size_t(loops::roomBehind)));
  const std::size_t beams = reach.beams == 1 ? most : longList + std::size_t(reach.beams);
  for (auto *list : {&outer, &innerBegin})
    list->resize(std::max(list->size(), beams + 1));
  for (std::int64_t block = 0; block != all;) {
    loops::Lists lists{slow.data(),
                       fast.data(),
                       outerBegin.data(),
                       outer.data(),
                       innerBegin.data(),
                       inner.data(),
                       0,
                       0,
                       0};
    block = loops::listBits(bits, block, all, longList, reach.dark, lists);
    lists.outerBegin[lists.blocks] = std::int32_t(lists.outers);
    lists.innerBegin[lists.outers] = std::int32_t(lists.inners);
    samplesEvaluated += double(lists.inners);
    if (lists.blocks != 0)
      run({lists.blocks, lists.slow, lists.fast, lists.outerBegin, lists.outer, lists.innerBegin,
           lists.inner, nullptr, &slowEnd});
  }
}

void LitTile::runIfLong(const std::function<void(const nb_lit &)> &run) {
  if (inners() < longList && slow.size() < longList)
    return;
  runRest(run);
  beginLists();
}

void LitTile::runRest(const std::function<void(const nb_lit &)> &run) {
  samplesEvaluated += double(inners());
  if (!slow.empty())
    run(lists());
}

void LitTile::runHits(const std::function<void(const nb_lit &)> &run) {
  const std::size_t all = blocks();
  sortHits(all);
  const auto bases = std::uint32_t(reach.bases);
  beginLists();
  std::size_t begin = 0;
  for (std::size_t block = 0; block != all; ++block) {
    if (reach.dark) {
      if (begin == hits.size())
        break;
      block = hits[begin].block;
    }
    addBlock(std::int64_t(block));
    std::int64_t lastBeam = -1, lastOrientation = -1;
    for (; begin != hits.size() && hits[begin].block == block; ++begin) {
      const std::uint32_t orientation = hits[begin].orientation;
      if (orientation == lastOrientation)
        continue; // two reflections of it
      lastOrientation = orientation;
      const std::uint32_t beam = reach.beams == 1 ? 0 : orientation / bases;
      if (beam != lastBeam) {
        outer.push_back(std::int32_t(beam));
        innerBegin.push_back(std::int32_t(inner.size()));
        lastBeam = beam;
      }
      inner.push_back(std::int32_t(orientation - beam * bases));
    }
    runIfLong(run);
  }
  runRest(run);
}

void LitTile::runEverything(const std::function<void(const nb_lit &)> &run) {
  const auto blocks = std::int64_t(this->blocks());
  const std::int64_t all = reach.beams * reach.bases;
  const std::int64_t atOnce = std::max<std::int64_t>(1, std::int64_t(longList) / (all + 1));
  for (std::int64_t first = 0; first < blocks; first += atOnce) {
    beginLists();
    for (std::int64_t block = first; block != std::min(first + atOnce, blocks); ++block) {
      addBlock(block);
      for (std::int64_t beam = 0; beam != reach.beams; ++beam) {
        outer.push_back(std::int32_t(beam));
        innerBegin.push_back(std::int32_t(inner.size()));
        for (std::int64_t basis = 0; basis != reach.bases; ++basis)
          inner.push_back(std::int32_t(basis));
      }
    }
    samplesEvaluated += double(inner.size());
    samplesLit += double(inner.size()) * double(reach.pixelsOfBlock());
    run(lists());
  }
}

void LitTile::beginRows(Range some) {
  rows = some;
  slowEnd = std::int32_t(some.last + 1);
}

void LitTile::forEachList(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  beginRows(
      {std::max(tile.slow_begin, reach.slow.first), std::min(tile.slow_end - 1, reach.slow.last)});
  if (rows.last < rows.first || reach.fast.last < reach.fast.first)
    return;
  blocksPerRow = (reach.fast.last - reach.fast.first + reach.blockColumns) / reach.blockColumns;
  if (reach.everything)
    return runEverything(run);
  if (!reach.spotGrids.empty())
    return runListedSpots(run);
  if (!reach.litSpots.empty())
    return runSpots(tile, run);
  if (reach.averages)
    return runAverages(tile, run);
  if (reach.points)
    return runPoints(tile, run);
  findHits(tile);
  if (inMask)
    runMask(run);
  else
    runHits(run);
}

/// Lists of `count` blocks from what was found.
void LitTile::addAveraged(std::int64_t firstBlock, std::int64_t count,
                          const std::function<void(const nb_lit &)> &run) {
  hitsOfBlock.assign(std::size_t(count) + 1, 0);
  for (const loops::AveragedHit &hit : averaged.all())
    ++hitsOfBlock[std::size_t(hit.block) + 1];
  for (std::size_t i = 0; i != std::size_t(count); ++i)
    hitsOfBlock[i + 1] += hitsOfBlock[i];
  averagedByBlock.resize(averaged.size);
  for (const loops::AveragedHit &hit : averaged.all())
    averagedByBlock[hitsOfBlock[std::size_t(hit.block)]++] = hit;
  // Now each entry says where its block ends.
  std::int64_t listed = 0;
  auto next = averagedByBlock.begin();
  for (std::int64_t block = 0; block != count; ++block) {
    const auto begin = next;
    next = averagedByBlock.begin() + hitsOfBlock[std::size_t(block)];
    auto end = next;
    if (begin == end && reach.dark)
      continue;
    if (places.count != count) { // several places of a block have some hits in common
      const auto number = [](const loops::AveragedHit &hit) {
        return std::pair(hit.beam, hit.reflection);
      };
      std::ranges::sort(begin, end, {}, number);
      end = std::ranges::unique(begin, end, {}, number).begin();
    }
    addBlock(firstBlock + block);
    listed += end - begin;
    std::int32_t lastBeam = -1;
    for (auto hit = begin; hit != end; ++hit) {
      if (hit->beam != lastBeam) {
        lastBeam = hit->beam;
        outer.push_back(lastBeam);
        innerBegin.push_back(std::int32_t(reflection.size()));
      }
      reflection.push_back(hit->reflection);
    }
    runIfLong(run);
  }
  samplesLit += double(listed) * double(reach.pixelsOfBlock());
}

/// Some blocks at a time, so that what is found stays in the cache.
void LitTile::runAverages(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  constexpr double hitsAtOnce = 1 << 16, pairsAtOnce = 1 << 20;
  const double most = std::min(hitsAtOnce / reach.pairsOfBlock, pairsAtOnce / double(reach.beams));
  const auto atOnce = std::int64_t(std::clamp(most, 1.0, double(blocksPerRow)));
  beginLists();
  for (std::int64_t row = 0; row != blockRows(); ++row)
    for (std::int64_t first = 0; first < blocksPerRow; first += atOnce) {
      const std::int64_t firstRow = rows.first + row * reach.blockRows;
      const std::int64_t count = std::min(atOnce, blocksPerRow - first);
      reach.placesOf(tile.panel, {firstRow, std::min(firstRow + reach.blockRows - 1, rows.last)},
                     {first, first + count - 1}, places);
      averaged.size = 0;
      for (std::int64_t beam = 0; beam != reach.beams; ++beam)
        reach.averages->find(beam, places, averaged);
      addAveraged(row * blocksPerRow + first, count, run);
    }
  runRest(run);
}

/// Some rows at a time, whose lists stay in the cache.
void LitTile::runSpots(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  constexpr std::int64_t blocksAtOnce = 32;
  const Range all = rows;
  const std::int64_t atOnce = blocksAtOnce * reach.blockRows;
  for (std::int64_t first = all.first; first <= all.last; first += atOnce) {
    beginRows({first, std::min(first + atOnce - 1, all.last)});
    runSpotsOfRows(tile, run);
  }
}

/// Each spot says which blocks it lights.
void LitTile::runSpotsOfRows(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  const std::vector<LitSpot> &spots = reach.litSpots[std::size_t(tile.panel)];
  const auto begin = std::ranges::lower_bound(spots, rows.first - reach.tallestSpot, {},
                                              [](const LitSpot &s) { return s.slowFirst; });
  spans.clear();
  hitsOfBlock.assign(blocks(), 0);
  for (auto spot = begin; spot != spots.end() && spot->slowFirst <= rows.last; ++spot) {
    if (spot->slowLast < rows.first)
      continue;
    const std::int64_t firstRow = std::max<std::int64_t>(spot->slowFirst, rows.first),
                       lastRow = std::min<std::int64_t>(spot->slowLast, rows.last);
    for (std::int64_t r = (firstRow - rows.first) / reach.blockRows;
         r <= (lastRow - rows.first) / reach.blockRows; ++r) {
      const std::int64_t first = rows.first + r * reach.blockRows;
      const Range lit = spot->columnsOf(first, first + reach.blockRows - 1);
      const Range column{std::max(lit.first, reach.fast.first) - reach.fast.first,
                         std::min(lit.last, reach.fast.last) - reach.fast.first};
      if (column.first > column.last)
        continue;
      const std::int64_t row = r * blocksPerRow;
      const BlockSpan span{std::uint32_t(row + column.first / reach.blockColumns),
                           std::uint32_t(row + column.last / reach.blockColumns), spot->number};
      spans.push_back(span);
      for (std::uint32_t block = span.first; block <= span.last; ++block)
        ++hitsOfBlock[block];
    }
  }
  reflection.resize(std::accumulate(hitsOfBlock.begin(), hitsOfBlock.end(), std::size_t(0)));
  for (auto *list : {&slow, &fast, &outerBegin, &outer, &innerBegin})
    list->resize(blocks() + 1);
  std::int32_t listed = 0, beams = 0, hits = 0;
  for (std::size_t block = 0; block != blocks(); ++block) {
    const auto count = std::int32_t(std::exchange(hitsOfBlock[block], std::uint32_t(hits)));
    if (count == 0 && reach.dark)
      continue;
    std::tie(slow[std::size_t(listed)], fast[std::size_t(listed)]) =
        firstPixelOf(std::int64_t(block));
    outerBegin[std::size_t(listed++)] = beams;
    if (count == 0)
      continue;
    outer[std::size_t(beams)] = 0;
    innerBegin[std::size_t(beams++)] = hits;
    hits += count;
  }
  outerBegin[std::size_t(listed)] = beams;
  innerBegin[std::size_t(beams)] = hits;
  for (const BlockSpan &span : spans)
    for (std::uint32_t block = span.first; block <= span.last; ++block)
      reflection[hitsOfBlock[block]++] = span.spot;
  samplesLit += double(hits) * double(reach.pixelsOfBlock());
  samplesEvaluated += double(hits);
  if (listed != 0)
    run({listed, slow.data(), fast.data(), outerBegin.data(), outer.data(), innerBegin.data(),
         inner.data(), reflection.data(), &slowEnd});
}

/// Each block of listed pixels asks for the spots about it.
void LitTile::runListedSpots(const std::function<void(const nb_lit &)> &run) {
  beginLists();
  averaged.size = 0;
  for (std::int64_t block = 0; block != std::int64_t(blocks()); ++block) {
    const std::int64_t first = reach.fast.first + block % blocksPerRow * reach.blockColumns;
    const Range columns{first, std::min(first + reach.blockColumns - 1, reach.fast.last)};
    const std::int64_t firstRow = rows.first + block / blocksPerRow * reach.blockRows;
    for (std::int64_t row = firstRow; row <= std::min(firstRow + reach.blockRows - 1, rows.last);
         ++row)
      reach.forEachSpotOf(row, columns, [&](const LitSpot &spot) {
        averaged.add({std::int32_t(block), 0, spot.number});
      });
  }
  places.count = std::int64_t(blocks()) * reach.blockRows;
  addAveraged(0, std::int64_t(blocks()), run);
  runRest(run);
}

/// A few rows at a time, whose bits stay in the cache.
void LitTile::runPoints(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  const Range all = rows;
  const std::int64_t words = blocksPerRow * ((reach.beams * reach.bases + 63) / 64);
  if (words > std::numeric_limits<std::int32_t>::max()) // their bits have no numbers
    return runEverything(run);
  const std::int64_t atOnce = std::max<std::int64_t>(wordsOfPoints / words, 1) * reach.blockRows;
  for (std::int64_t first = all.first; first <= all.last; first += atOnce) {
    beginRows({first, std::min(first + atOnce - 1, all.last)});
    if (findByPoints(tile))
      runMask(run);
    else
      runEverything(run);
  }
}

} // namespace nanobragg
