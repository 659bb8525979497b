#include "runtime/processor/LitTile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#define NB_FOR_PROCESSORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define NB_FOR_PROCESSORS
#endif

namespace nanobragg {
namespace {

/// What is the same for all candidates of a beam and a basis.
struct Shell {
  double k[3], ellipsoid[9]; ///< of the ellipsoid, column by column
  double radius2, scale, slack;
};

/// Writes into `near`, for reduced indices x, y, z, whether the ellipsoid about the reflection may reach
/// the sphere. That it does means | |x| - R | <= |B^T x| / |x| + slack. With x between R - window and
/// R + window, and g = |x|^2 - R^2 = (|x| - R) (|x| + R), it follows that
/// g^2 <= scale |B^T x|^2 + slack: Reach.h and docs/culling.md.
NB_FOR_PROCESSORS void findNear(const Shell &s, const double *x, const double *y, const double *z,
                                unsigned char *near, std::int64_t count) {
  const double *e = s.ellipsoid;
  for (std::int64_t i = 0; i < count; ++i) {
    const double px = s.k[0] + e[0] * x[i] + e[3] * y[i] + e[6] * z[i];
    const double py = s.k[1] + e[1] * x[i] + e[4] * y[i] + e[7] * z[i];
    const double pz = s.k[2] + e[2] * x[i] + e[5] * y[i] + e[8] * z[i];
    const double va = e[0] * px + e[1] * py + e[2] * pz;
    const double vb = e[3] * px + e[4] * py + e[5] * pz;
    const double vc = e[6] * px + e[7] * py + e[8] * pz;
    const double g = px * px + py * py + pz * pz - s.radius2;
    near[i] = g * g <= s.scale * (va * va + vb * vb + vc * vc) + s.slack;
  }
}

constexpr std::size_t longList = std::size_t(1) << 22;

} // namespace

void LitTile::addSpot(const Spot &spot, std::uint32_t orientation) {
  const std::int64_t first = std::max(spot.slow.first, rows.first);
  const std::int64_t last = std::min(spot.slow.last, rows.last);
  if (last < first || spot.fast.last < spot.fast.first)
    return;
  samplesLit += double(last - first + 1) * double(spot.fast.last - spot.fast.first + 1);
  const std::int64_t begin = (spot.fast.first - reach.fast.first) / reach.lanes;
  const std::int64_t end = (spot.fast.last - reach.fast.first) / reach.lanes;
  for (std::int64_t row = first; row <= last; ++row)
    for (std::int64_t column = begin; column <= end; ++column) {
      const auto block = std::uint32_t((row - rows.first) * blocksPerRow + column);
      hits.push_back({block, orientation});
      ++hitsOfBlock[block];
    }
}

void LitTile::findHits(const nb_tile &tile, std::int64_t beamNumber, std::int64_t groupNumber) {
  const Group &group = reach.group(tile.panel, beamNumber, groupNumber);
  const auto &all = group.candidates;
  const auto begin = std::lower_bound(
      all.begin(), all.end(), rows.first - group.mostRows,
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
  near.resize((count + 7) / 8 * 8);
  const Reach::Beam &beam = reach.beam[std::size_t(beamNumber)];
  const double w = reach.halfAxis, r = beam.radius;
  Shell shell{};
  shell.k[0] = beam.k.x, shell.k[1] = beam.k.y, shell.k[2] = beam.k.z;
  shell.radius2 = r * r;
  // |g| <= (e + w^2 / r) (|x| + R) where e = |B^T x| / |x| <= w, and |x| <= R + w + ..., |x| >= R - w -
  // w^2 / R. The square of a sum is at most 1.01 and 101 times the squares.
  const double room = w + w * w / r;
  const double ratio = 1 + r / (r - room), most = 2 * r + room;
  shell.scale = 1.01 * ratio * ratio;
  shell.slack = 101 * (w * w / r * most) * (w * w / r * most);
  const std::int64_t last = std::min((groupNumber + 1) * reach.groupSize, reach.bases);
  for (std::int64_t basis = groupNumber * reach.groupSize; basis != last; ++basis) {
    const Matrix &ellipsoid = reach.ellipsoid[std::size_t(basis)];
    for (int c = 0; c != 3; ++c) {
      shell.ellipsoid[3 * c] = ellipsoid.column[c].x;
      shell.ellipsoid[3 * c + 1] = ellipsoid.column[c].y;
      shell.ellipsoid[3 * c + 2] = ellipsoid.column[c].z;
    }
    findNear(shell, reduced[0].data(), reduced[1].data(), reduced[2].data(), near.data(),
             std::int64_t(count));
    const auto orientation = std::uint32_t(beamNumber * reach.bases + basis);
    std::memset(near.data() + count, 0, near.size() - count);
    for (std::size_t eight = 0; eight < count; eight += 8) {
      std::uint64_t flags = 0;
      std::memcpy(&flags, near.data() + eight, 8);
      for (; flags; flags &= flags - 1) {
        const std::size_t i = eight + std::size_t(__builtin_ctzll(flags)) / 8;
        const Vector x = beam.k + ellipsoid * Vector{reduced[0][i], reduced[1][i], reduced[2][i]};
        addSpot(reach.spotOf(tile.panel, beam, ellipsoid, x), orientation);
      }
    }
  }
}

void LitTile::findHits(const nb_tile &tile) {
  hits.clear();
  hitsOfBlock.assign(std::size_t((rows.last - rows.first + 1) * blocksPerRow), 0);
  for (std::int64_t beam = 0; beam != reach.beams; ++beam)
    for (std::int64_t group = 0; group != reach.groups(); ++group)
      findHits(tile, beam, group);
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
  return {std::int64_t(slow.size()), slow.data(),       fast.data(), outerBegin.data(),
          outer.data(),              innerBegin.data(), inner.data()};
}

void LitTile::runHits(const std::function<void(const nb_lit &)> &run) {
  // By block; of each block they stay in ascending order of orientations.
  std::uint32_t position = 0;
  for (std::uint32_t &n : hitsOfBlock)
    position += std::exchange(n, position);
  sorted.resize(hits.size());
  for (const Hit &hit : hits)
    sorted[hitsOfBlock[hit.block]++] = hit.orientation;
  const auto bases = std::uint32_t(reach.bases);
  beginLists();
  std::uint32_t begin = 0;
  for (std::size_t block = 0; block != hitsOfBlock.size(); ++block) {
    const std::uint32_t end = hitsOfBlock[block];
    if (begin == end && reach.dark)
      continue;
    addBlock(std::int64_t(block));
    std::int64_t lastBeam = -1, lastOrientation = -1;
    for (; begin != end; ++begin) {
      const std::uint32_t orientation = sorted[begin];
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
    if (inner.size() >= longList || slow.size() >= longList) {
      samplesEvaluated += double(inner.size());
      run(lists());
      beginLists();
    }
  }
  samplesEvaluated += double(inner.size());
  if (!slow.empty())
    run(lists());
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
  findHits(tile);
  runHits(run);
}

} // namespace nanobragg
