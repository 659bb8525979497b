#include "runtime/gpu/LitBatches.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>

namespace nanobragg::gpu {
namespace {

/// Where the addresses of the lists stand in nb_lit.
constexpr std::size_t placeInLit[] = {offsetof(nb_lit, slow),        offsetof(nb_lit, fast),
                                      offsetof(nb_lit, outer_begin), offsetof(nb_lit, outer),
                                      offsetof(nb_lit, inner_begin), offsetof(nb_lit, inner),
                                      offsetof(nb_lit, reflection),  offsetof(nb_lit, slow_end)};

/// Rows that one thread looks at, and at most so many of a launch.
constexpr std::int64_t rowsAtOnce = 16, mostRows = 512;
/// Launches of a panel, at least: while one runs, the lists of the next are made.
constexpr std::int64_t fewestLaunches = 4;
/// Pairs of a block and an orientation, whether lit or not.
constexpr double mostPairs = 1 << 26;

std::int64_t rowsOfLaunch(const Reach &reach, const ImageShape &shape, std::int64_t wanted) {
  const std::int64_t launches = std::max(wanted, fewestLaunches);
  const double ofRow =
      double(shape.fast + reach.blockColumns) / double(reach.pixelsOfBlock()) * reach.pairsOfBlock;
  const std::int64_t most = std::int64_t(std::min(mostPairs / ofRow, double(mostRows)));
  const std::int64_t rows = std::clamp<std::int64_t>((shape.slow + launches - 1) / launches, 1,
                                                     std::max<std::int64_t>(most, 1));
  return (rows + reach.blockRows - 1) / reach.blockRows * reach.blockRows;
}

} // namespace

/// The lists of some rows.
struct LitBatches::Lists {
  std::vector<std::int32_t> slow, fast, outerBegin, outer, innerBegin, inner;
  std::vector<std::int64_t> reflection;
  std::int32_t slowEnd = 0;

  std::int32_t firstInner() const { return std::int32_t(inner.size() + reflection.size()); }
  void append(const nb_lit &lit) {
    const auto outers = lit.outer_begin[lit.blocks];
    const auto inners = lit.inner_begin[outers];
    const auto firstOuter = std::int32_t(outer.size()), firstInner = this->firstInner();
    if (std::int64_t(firstInner) + inners > std::numeric_limits<std::int32_t>::max())
      throw std::runtime_error(
          "a row of pixels has more than 2^31 samples with light; give --cull=off");
    slow.insert(slow.end(), lit.slow, lit.slow + lit.blocks);
    fast.insert(fast.end(), lit.fast, lit.fast + lit.blocks);
    for (std::int64_t i = 0; i != lit.blocks; ++i)
      outerBegin.push_back(lit.outer_begin[i] + firstOuter);
    outer.insert(outer.end(), lit.outer, lit.outer + outers);
    for (std::int32_t i = 0; i != outers; ++i)
      innerBegin.push_back(lit.inner_begin[i] + firstInner);
    if (lit.reflection)
      reflection.insert(reflection.end(), lit.reflection, lit.reflection + inners);
    else
      inner.insert(inner.end(), lit.inner, lit.inner + inners);
    slowEnd = std::max(slowEnd, *lit.slow_end);
  }
  /// Entries behind the last one of each list of beginnings.
  void end() {
    outerBegin.push_back(std::int32_t(outer.size()));
    innerBegin.push_back(firstInner());
  }
  nb_lit view() const {
    return {
        std::int64_t(slow.size()), slow.data(),  fast.data(),       outerBegin.data(), outer.data(),
        innerBegin.data(),         inner.data(), reflection.data(), &slowEnd};
  }
};

const void *LitBatch::placedAt(Address address) {
  for (std::size_t i = 0; i != std::size(placeInLit); ++i)
    content.setAddress(litAt + placeInLit[i], address + listAt[i]);
  content.setAddress(tileAt + offsetof(nb_tile, lit), address + litAt);
  return content.data();
}

LitBatches::LitBatches(const nb_kernel_descriptor &kernel, const void *const *arguments,
                       const void *workspace, const ImageShape &shape, ThreadTeam &team,
                       std::int64_t wanted)
    : team(team), reach(kernel, arguments, workspace, team) {
  for (int i = 0; i != team.size(); ++i)
    ofThread.emplace_back(reach);
  const std::int64_t rows = rowsOfLaunch(reach, shape, wanted);
  for (std::int64_t panel = 0; panel != shape.panels; ++panel)
    for (std::int64_t row = 0; row < shape.slow; row += rows)
      parts.push_back({panel, row, std::min(row + rows, shape.slow), nullptr});
}

LitBatch LitBatches::make(std::size_t number) {
  const nb_tile &part = parts[number];
  const std::int64_t tiles = (part.slow_end - part.slow_begin + rowsAtOnce - 1) / rowsAtOnce;
  std::vector<Lists> found{std::size_t(tiles)};
  team.forEach(tiles, [&](std::int64_t i, int thread) {
    const std::int64_t begin = part.slow_begin + i * rowsAtOnce;
    const nb_tile rows{part.panel, begin, std::min(begin + rowsAtOnce, part.slow_end), nullptr};
    ofThread[std::size_t(thread)].forEachList(
        rows, [&](const nb_lit &lit) { found[std::size_t(i)].append(lit); });
  });
  Lists all = std::move(found.front());
  for (std::size_t i = 1; i != found.size(); ++i) {
    found[i].end();
    all.append(found[i].view());
  }
  all.end();

  LitBatch batch;
  batch.count = std::int64_t(all.slow.size());
  batch.tileAt = batch.content.append(&part, sizeof part);
  nb_lit lit{};
  lit.blocks = batch.count;
  batch.litAt = batch.content.append(&lit, sizeof lit);
  std::size_t *place = batch.listAt;
  const auto append = [&](const auto &list) {
    *place++ = batch.content.append(list.data(), list.size() * sizeof *list.data());
  };
  for (const auto *list :
       {&all.slow, &all.fast, &all.outerBegin, &all.outer, &all.innerBegin, &all.inner})
    append(*list);
  append(all.reflection);
  append(std::span(&all.slowEnd, 1));
  return batch;
}

double LitBatches::samplesLit() const {
  double sum = 0;
  for (const LitTile &of : ofThread)
    sum += of.samplesLit;
  return sum * reach.samplesPerPixel;
}

double LitBatches::samplesEvaluated() const {
  double sum = 0;
  for (const LitTile &of : ofThread)
    sum += of.samplesEvaluated;
  return sum * double(reach.pixelsOfBlock()) * reach.samplesPerPixel;
}

} // namespace nanobragg::gpu
