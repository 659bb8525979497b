#include "runtime/processor/LitTile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace nanobragg {
namespace {

std::size_t wholeVectors(std::size_t count) { return (count + 7) / 8 * 8; }

constexpr std::size_t longList = std::size_t(1) << 22;
constexpr std::int64_t wordsOfPoints = std::int64_t(1) << 15;
constexpr std::size_t mostMask = std::size_t(1) << 22; ///< words

} // namespace

void LitTile::addSpots(std::size_t count, std::uint32_t orientation) {
  const auto lanes = std::uint32_t(reach.lanes); // 32 bits: dividing by them is faster
  const std::uint64_t bit = std::uint64_t(1) << orientation % 64;
  for (std::size_t i = 0; i != count; ++i) {
    std::int32_t f0 = spots[0][i], f1 = spots[1][i], s0 = spots[2][i], s1 = spots[3][i];
    if (reach.hasDepth && spots[5][i] >= spots[4][i]) {
      // All between both depths lies in the box around both spots.
      const bool none = f1 < f0;
      f0 = none ? spots[4][i] : std::min(f0, spots[4][i]);
      s0 = none ? spots[6][i] : std::min(s0, spots[6][i]);
      f1 = std::max(f1, spots[5][i]);
      s1 = std::max(s1, spots[7][i]);
    }
    const std::int64_t first = std::max<std::int64_t>(s0, rows.first);
    const std::int64_t last = std::min<std::int64_t>(s1, rows.last);
    if (last < first || f1 < f0)
      continue;
    samplesLit += double(last - first + 1) * double(f1 - f0 + 1);
    const auto begin = std::uint32_t(f0 - reach.fast.first) / lanes;
    const auto end = std::uint32_t(f1 - reach.fast.first) / lanes;
    for (std::int64_t row = first; row <= last; ++row) {
      const auto start = std::uint32_t((row - rows.first) * blocksPerRow);
      if (inMask) {
        std::uint64_t *word = mask.data() + (start + begin) * wordsOfBlock + orientation / 64;
        for (std::uint32_t column = begin; column <= end; ++column, word += wordsOfBlock)
          *word |= bit;
      } else {
        for (std::uint32_t column = begin; column <= end; ++column)
          hits.push_back({start + column, orientation});
      }
    }
  }
}

void LitTile::findHits(const nb_tile &tile, std::int64_t beamNumber, std::int64_t groupNumber) {
  const Group &group = reach.group(tile.panel, beamNumber, groupNumber);
  const auto &all = group.candidates;
  const auto begin =
      std::lower_bound(all.begin(), all.end(), rows.first - group.mostRows,
                       [](const Candidate &c, std::int64_t row) { return c.firstRow < row; });
  for (auto &axis : reduced)
    axis.clear();
  for (auto c = begin; c != all.end() && c->firstRow <= rows.last; ++c) {
    if (c->lastRow < rows.first)
      continue;
    const Vector v = reach.reduced(*c);
    reduced[0].push_back(v.x);
    reduced[1].push_back(v.y);
    reduced[2].push_back(v.z);
  }
  const std::size_t count = reduced[0].size();
  if (count == 0)
    return;
  // Loops in lanes take whole vectors; what is behind the end does not matter.
  const std::size_t whole = wholeVectors(count);
  near.resize(whole);
  for (auto &axis : reduced)
    axis.resize(whole);
  const IncidentBeam &beam = reach.beam[std::size_t(beamNumber)];
  loops::Shell shell{{beam.k.x, beam.k.y, beam.k.z}, {}, beam.radius, reach.halfAxis};
  for (auto &axis : lit)
    axis.resize(whole);
  for (auto &spot : spots)
    spot.resize(whole);
  const std::int64_t last = std::min((groupNumber + 1) * reach.groupSize, reach.bases);
  for (std::int64_t basis = groupNumber * reach.groupSize; basis != last; ++basis) {
    const Matrix &ellipsoid = reach.ellipsoid[std::size_t(basis)];
    for (int c = 0; c != 3; ++c) {
      shell.ellipsoid[3 * c] = ellipsoid.column[std::size_t(c)].x;
      shell.ellipsoid[3 * c + 1] = ellipsoid.column[std::size_t(c)].y;
      shell.ellipsoid[3 * c + 2] = ellipsoid.column[std::size_t(c)].z;
    }
    loops::findNear(shell, reduced[0].data(), reduced[1].data(), reduced[2].data(),
                    std::int64_t(whole), near.data());
    std::memset(near.data() + count, 0, near.size() - count);
    std::size_t found = 0;
    for (std::size_t eight = 0; eight < count; eight += 8) {
      std::uint64_t flags = 0;
      std::memcpy(&flags, near.data() + eight, 8);
      for (; flags; flags &= flags - 1) {
        const std::size_t i = eight + std::size_t(__builtin_ctzll(flags)) / 8;
        for (std::size_t c = 0; c != 3; ++c)
          lit[c][found] = reduced[c][i];
        ++found;
      }
    }
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
  std::uint64_t *words = mask.data();
  std::size_t lit = 0;
  for (std::int64_t row = rows.first; row <= rows.last; ++row) {
    reach.directionsOf(tile.panel, row, reach.fast, directions);
    const PointSearch::Test test = reach.points->testFor(directions.longest);
    if (!test.possible)
      return false;
    for (std::int64_t block = 0; block != blocksPerRow; ++block, words += wordsOfBlock) {
      const std::int64_t first = block * reach.lanes;
      reach.points->findLit(test,
                            {directions.x.data() + first, directions.y.data() + first,
                             directions.z.data() + first, reach.lanes, directions.kinds,
                             directions.stride},
                            words);
      for (std::size_t word = 0; word != wordsOfBlock; ++word)
        lit += std::size_t(__builtin_popcountll(words[word]));
    }
  }
  samplesLit += double(lit) * double(reach.lanes);
  return true;
}

/// A bit for each orientation of each block costs less than a list of hits where there are many.
void LitTile::chooseMask() {
  const std::size_t words = blocks() * wordsOfBlock;
  if (inMask || words > mostMask || hits.size() <= words / 4)
    return;
  inMask = true;
  mask.assign(words, 0);
  for (Hit hit : hits)
    setBit(hit);
}

void LitTile::beginLists() {
  for (auto *list : {&slow, &fast, &outerBegin, &outer, &innerBegin, &inner})
    list->clear();
}

void LitTile::addBlock(std::int64_t block) {
  slow.push_back(std::int32_t(rows.first + block / blocksPerRow));
  fast.push_back(std::int32_t(reach.fast.first + block % blocksPerRow * reach.lanes));
  outerBegin.push_back(std::int32_t(outer.size()));
}

nb_lit LitTile::lists() {
  outerBegin.push_back(std::int32_t(outer.size()));
  innerBegin.push_back(std::int32_t(inner.size()));
  return {std::int64_t(slow.size()), slow.data(), fast.data(), outerBegin.data(), outer.data(),
          innerBegin.data(),         inner.data()};
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
  beginLists();
  const std::int64_t bases = reach.bases;
  for (std::size_t block = 0, all = blocks(); block != all; ++block) {
    const std::uint64_t *bits = mask.data() + block * wordsOfBlock;
    std::size_t count = 0;
    for (std::size_t word = 0; word != wordsOfBlock; ++word)
      count += std::size_t(__builtin_popcountll(bits[word]));
    if (count == 0 && reach.dark)
      continue;
    addBlock(std::int64_t(block));
    const std::size_t before = inner.size();
    inner.resize(before + count);
    std::int32_t *next = inner.data() + before;
    std::int64_t beam = -1, endOfBeam = 0;
    for (std::size_t word = 0; word != wordsOfBlock; ++word)
      for (std::uint64_t left = bits[word]; left; left &= left - 1) {
        const std::int64_t orientation = std::int64_t(64 * word) + __builtin_ctzll(left);
        if (orientation >= endOfBeam) {
          beam = reach.beams == 1 ? 0 : orientation / bases;
          endOfBeam = (beam + 1) * bases;
          outer.push_back(std::int32_t(beam));
          innerBegin.push_back(std::int32_t(next - inner.data()));
        }
        *next++ = std::int32_t(orientation - (endOfBeam - bases));
      }
    runIfLong(run);
  }
  runRest(run);
}

void LitTile::runIfLong(const std::function<void(const nb_lit &)> &run) {
  if (inner.size() < longList && slow.size() < longList)
    return;
  runRest(run);
  beginLists();
}

void LitTile::runRest(const std::function<void(const nb_lit &)> &run) {
  samplesEvaluated += double(inner.size());
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
  const std::int64_t blocks = (rows.last - rows.first + 1) * blocksPerRow;
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
    samplesLit += double(inner.size()) * double(reach.lanes);
    run(lists());
  }
}

void LitTile::forEachList(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  rows = {std::max(tile.slow_begin, reach.slow.first),
          std::min(tile.slow_end - 1, reach.slow.last)};
  if (rows.last < rows.first || reach.fast.last < reach.fast.first)
    return;
  blocksPerRow = (reach.fast.last - reach.fast.first + reach.lanes) / reach.lanes;
  if (reach.everything)
    return runEverything(run);
  if (reach.points)
    return runPoints(tile, run);
  findHits(tile);
  if (inMask)
    runMask(run);
  else
    runHits(run);
}

/// A few rows at a time, whose bits stay in the cache.
void LitTile::runPoints(const nb_tile &tile, const std::function<void(const nb_lit &)> &run) {
  const Range all = rows;
  const std::int64_t words = blocksPerRow * ((reach.beams * reach.bases + 63) / 64);
  const std::int64_t atOnce = std::max<std::int64_t>(wordsOfPoints / words, 1);
  for (std::int64_t first = all.first; first <= all.last; first += atOnce) {
    rows = {first, std::min(first + atOnce - 1, all.last)};
    if (findByPoints(tile))
      runMask(run);
    else
      runEverything(run);
  }
}

} // namespace nanobragg
