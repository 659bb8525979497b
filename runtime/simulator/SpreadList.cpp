#include "runtime/simulator/SpreadList.h"

#include "lib/Parallel/ThreadTeam.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace nanobragg {
namespace {

/// The edge of the squares into which listed pixels are sorted. Not much smaller than the margin,
/// which neighbours would compute twice.
std::int64_t edgeOfPatch(std::int64_t radius) { return std::max<std::int64_t>(32, 2 * radius); }

/// All pixels of a panel are within its edge.
std::int64_t reach(const Detector &d) {
  return std::min(d.psfRadius, std::max(d.wholeFastPixels, d.wholeSlowPixels));
}

/// Marks what is up to `radius` from a mark, along rows of `step`: with a sum of the marks so far.
void dilate(std::vector<std::uint8_t> &marks, std::int64_t rows, std::int64_t rowStep,
            std::int64_t length, std::int64_t step, std::int64_t radius) {
  std::vector<std::int64_t> sums(std::size_t(length + 1));
  for (std::int64_t row = 0; row != rows; ++row) {
    std::uint8_t *line = &marks[std::size_t(row * rowStep)];
    for (std::int64_t i = 0; i != length; ++i)
      sums[std::size_t(i + 1)] = sums[std::size_t(i)] + line[i * step];
    for (std::int64_t i = 0; i != length; ++i)
      line[i * step] = sums[std::size_t(std::min(length, i + radius + 1))] !=
                       sums[std::size_t(std::max<std::int64_t>(0, i - radius))];
  }
}

} // namespace

SpreadList::SpreadList(const Experiment &experiment, const ListedPixels &listed,
                       std::span<const PixelIndex> pixels)
    : count(pixels.size()) {
  const Detector &d = experiment.detector;
  makePatches(experiment, listed, pixels);
  findSources(reach(d), d.wholeSlowPixels, d.wholeFastPixels);
  if (from.empty()) // no simulator has an empty list
    from.push_back(pixels.front());
}

void SpreadList::makePatches(const Experiment &experiment, const ListedPixels &listed,
                             std::span<const PixelIndex> pixels) {
  const Detector &d = experiment.detector;
  const std::int64_t radius = reach(d), edge = edgeOfPatch(radius);
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<std::size_t>> sorted;
  for (std::size_t i = 0; i != count; ++i)
    if (listed.places[i] != ListedPixels::none)
      sorted[{pixels[i].panel, pixels[i].slow / edge, pixels[i].fast / edge}].push_back(i);
  for (const auto &[key, members] : sorted) {
    Patch patch;
    patch.panel = std::get<0>(key);
    const PixelIndex &first = pixels[members.front()];
    patch.fastMin = patch.fastEnd = first.fast;
    patch.slowMin = patch.slowEnd = first.slow;
    for (const std::size_t i : members) {
      patch.fastMin = std::min(patch.fastMin, pixels[i].fast);
      patch.fastEnd = std::max(patch.fastEnd, pixels[i].fast + 1);
      patch.slowMin = std::min(patch.slowMin, pixels[i].slow);
      patch.slowEnd = std::max(patch.slowEnd, pixels[i].slow + 1);
    }
    // Beyond a panel's edge there is no light.
    std::int64_t fastPixels = d.wholeFastPixels, slowPixels = d.wholeSlowPixels;
    if (!d.panels.empty()) {
      fastPixels = d.panels[std::size_t(patch.panel)].fastPixels;
      slowPixels = d.panels[std::size_t(patch.panel)].slowPixels;
    }
    const PixelBox box = {patch.slowMin, patch.slowEnd, patch.fastMin, patch.fastEnd};
    patch.fastMin = std::max<std::int64_t>(0, patch.fastMin - radius);
    patch.slowMin = std::max<std::int64_t>(0, patch.slowMin - radius);
    patch.fastEnd = std::min(fastPixels, patch.fastEnd + radius);
    patch.slowEnd = std::min(slowPixels, patch.slowEnd + radius);
    patch.box = {box.slowBegin - patch.slowMin, box.slowEnd - patch.slowMin,
                 box.fastBegin - patch.fastMin, box.fastEnd - patch.fastMin};
    for (const std::size_t i : members)
      patch.listed.push_back({i, std::size_t((pixels[i].slow - patch.slowMin) * patch.fastPixels() +
                                             pixels[i].fast - patch.fastMin)});
    patches.push_back(std::move(patch));
  }
}

void SpreadList::findSources(std::int64_t radius, std::int64_t slowPixels,
                             std::int64_t fastPixels) {
  const auto onDetector = [&](const Patch &patch, std::size_t place) {
    const std::int64_t fast = patch.fastMin + std::int64_t(place) % patch.fastPixels();
    const std::int64_t slow = patch.slowMin + std::int64_t(place) / patch.fastPixels();
    return std::size_t((patch.panel * slowPixels + slow) * fastPixels + fast);
  };
  /// Pixels one after the other on the detector.
  struct Interval {
    std::size_t begin, end, source;
  };
  std::vector<Interval> all, intervals;
  for (Patch &patch : patches) {
    std::vector<std::uint8_t> marks(patch.pixels());
    for (const Patch::Listed &listed : patch.listed)
      marks[listed.place] = 1;
    dilate(marks, patch.slowPixels(), patch.fastPixels(), patch.fastPixels(), 1, radius);
    dilate(marks, patch.fastPixels(), 1, patch.slowPixels(), patch.fastPixels(), radius);
    const auto width = std::size_t(patch.fastPixels());
    for (std::size_t i = 0; i != marks.size();) {
      std::size_t end = i;
      while (end != marks.size() && marks[end] && (end == i || end % width != 0))
        ++end;
      if (end != i) {
        patch.runs.push_back({i, end - i, 0});
        all.push_back({onDetector(patch, i), onDetector(patch, i) + end - i, 0});
      }
      i = std::max(end, i + 1);
    }
  }
  std::ranges::sort(all, {}, &Interval::begin);
  for (const Interval &next : all) {
    if (!intervals.empty() && next.begin <= intervals.back().end)
      intervals.back().end = std::max(intervals.back().end, next.end);
    else
      intervals.push_back(next);
  }
  for (Interval &interval : intervals) {
    interval.source = from.size();
    for (std::size_t i = interval.begin; i != interval.end; ++i)
      from.push_back({.panel = std::int64_t(i) / (slowPixels * fastPixels),
                      .slow = std::int64_t(i) / fastPixels % slowPixels,
                      .fast = std::int64_t(i) % fastPixels});
  }
  for (Patch &patch : patches)
    for (Patch::Run &run : patch.runs) {
      const std::size_t begin = onDetector(patch, run.place);
      const Interval &in = *(std::ranges::upper_bound(intervals, begin, {}, &Interval::begin) - 1);
      run.source = in.source + begin - in.begin;
    }
}

std::vector<double> SpreadList::gather(const PointSpreadFunction &spread,
                                       std::span<const double> photons, int threads) const {
  std::vector<double> pixels(count);
  ThreadTeam team(threadsOf(threads));
  team.forEach(std::int64_t(patches.size()), [&](std::int64_t number, int) {
    const Patch &patch = patches[std::size_t(number)];
    std::vector<double> light(patch.pixels());
    for (const Patch::Run &run : patch.runs)
      std::ranges::copy(photons.subspan(run.source, run.length), &light[run.place]);
    std::vector<double> result(light.size());
    spread.applyInBox(light, patch.fastPixels(), patch.box, result);
    for (const Patch::Listed &listed : patch.listed)
      pixels[listed.number] = result[listed.place];
  });
  return pixels;
}

std::vector<double> SpreadList::scatter(const PointSpreadFunction &spread,
                                        std::span<const double> pixels, int threads) const {
  std::vector<std::vector<double>> results(patches.size());
  ThreadTeam team(threadsOf(threads));
  team.forEach(std::int64_t(patches.size()), [&](std::int64_t number, int) {
    const Patch &patch = patches[std::size_t(number)];
    std::vector<double> numbers(patch.pixels());
    for (const Patch::Listed &listed : patch.listed)
      numbers[listed.place] += pixels[listed.number];
    std::vector<double> &result = results[std::size_t(number)];
    result.resize(numbers.size());
    spread.applyOfBox(numbers, patch.fastPixels(), patch.box, result);
  });
  // One after the other: patches share sources.
  std::vector<double> photons(from.size());
  for (std::size_t number = 0; number != patches.size(); ++number)
    for (const Patch::Run &run : patches[number].runs)
      for (std::size_t i = 0; i != run.length; ++i)
        photons[run.source + i] += results[number][run.place + i];
  return photons;
}

} // namespace nanobragg
