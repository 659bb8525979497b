#include "lib/Experiment/PixelList.h"

#include <algorithm>
#include <utility>

namespace nanobragg {
namespace {

/// Enough to fill warps; narrower rows, down to lanes, where panels' last ones would waste more.
constexpr std::size_t widestRow = 64, narrowestRow = 8;
constexpr double mostWasted = 0.1;

/// The width of rows for groups of so many pixels, none of which shares a row with another.
std::size_t widthOfRows(std::span<const std::size_t> groups) {
  const auto placesOf = [&](std::size_t width) {
    std::size_t places = 0;
    for (const std::size_t pixels : groups)
      places += (pixels + width - 1) / width * width;
    return places;
  };
  const double most = (1 + mostWasted) * double(placesOf(1));
  const std::size_t largest = groups.empty() ? 1 : std::ranges::max(groups);
  std::size_t width = std::min(largest, widestRow);
  while (width > narrowestRow && double(placesOf(width)) > most)
    width = std::max(width / 2, narrowestRow);
  return width;
}

[[noreturn]] void refuse(const PixelIndex &pixel, const Detector &detector, std::int64_t panels) {
  throw std::invalid_argument(
      "the list has panel " + std::to_string(pixel.panel) + ", slow " + std::to_string(pixel.slow) +
      ", fast " + std::to_string(pixel.fast) + ", and the detector has " + std::to_string(panels) +
      (panels == 1 ? " panel" : " panels") + " of " + std::to_string(detector.slowPixels) +
      " slow and " + std::to_string(detector.fastPixels) + " fast pixels; count from 0");
}

bool isRendered(const Detector &d, const PixelIndex &pixel) {
  const bool inside = pixel.fast >= d.roiFastMin && pixel.fast <= d.roiFastMax &&
                      pixel.slow >= d.roiSlowMin && pixel.slow <= d.roiSlowMax;
  return inside && (d.mask.empty() ||
                    d.mask[std::size_t((pixel.panel * d.slowPixels + pixel.slow) * d.fastPixels +
                                       pixel.fast)]);
}

} // namespace

void ListedPixels::findRuns() {
  runs.clear();
  for (std::size_t i = 0; i != places.size(); ++i)
    if (places[i] != none) {
      if (i != 0 && places[i - 1] != none && places[i - 1] + 1 == places[i])
        ++runs.back().count;
      else
        runs.push_back({i, places[i], 1});
    }
}

void ListedPixels::requireSize(std::size_t numbers) const {
  if (numbers != places.size())
    throw std::invalid_argument(std::to_string(numbers) + " numbers are given for a list of " +
                                std::to_string(places.size()) + " pixels");
}

void ListedPixels::requireImageOf(const Experiment &experiment) const {
  const bool fits = std::ranges::all_of(
      places, [&](std::size_t place) { return place == none || place < imagePixels; });
  if (!experiment.variant.pixelList || std::int64_t(imagePixels) != experiment.pixelCount() ||
      !fits)
    throw std::invalid_argument("the list of pixels and the experiment do not belong together");
}

std::vector<double> ListedPixels::scatter(std::span<const double> list) const {
  requireSize(list.size());
  std::vector<double> image(imagePixels);
  for (std::size_t i = 0; i != places.size(); ++i)
    if (places[i] != none)
      image[places[i]] = list[i];
  return image;
}

ListedPixels listPixels(Experiment &experiment, std::span<const PixelIndex> pixels,
                        std::span<const std::int64_t> kinds) {
  Detector &d = experiment.detector;
  const std::int64_t panels = experiment.panelCount();
  if (pixels.empty())
    throw std::invalid_argument("the list of pixels is empty; list one at least");
  if (experiment.variant.pixelList)
    throw std::invalid_argument("the experiment has a list of pixels already");
  ListedPixels listed;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i != pixels.size(); ++i) {
    const PixelIndex &p = pixels[i];
    if (p.panel < 0 || p.panel >= panels || p.slow < 0 || p.slow >= d.slowPixels || p.fast < 0 ||
        p.fast >= d.fastPixels)
      refuse(p, d, panels);
    if (isRendered(d, p))
      order.push_back(i);
  }
  const auto rowOf = [&](std::size_t i) {
    return std::pair(pixels[i].panel, kinds.empty() ? 0 : kinds[i]);
  };
  const auto isBefore = [&](std::size_t a, std::size_t b) {
    return std::pair(rowOf(a), a) < std::pair(rowOf(b), b);
  };
  if (!std::ranges::is_sorted(order, isBefore)) // as a list of one panel is
    std::ranges::sort(order, isBefore);

  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i != order.size(); ++i) {
    if (i == 0 || rowOf(order[i]) != rowOf(order[i - 1]))
      groups.push_back(0);
    ++groups.back();
  }
  const std::size_t width = widthOfRows(groups);
  listed.places.assign(pixels.size(), ListedPixels::none);
  PixelMap panel, slow, fast, gain;
  const auto append = [&](const PixelIndex &p) {
    panel.values.push_back(double(p.panel));
    slow.values.push_back(double(p.slow));
    fast.values.push_back(double(p.fast));
    if (experiment.variant.gainMap)
      gain.values.push_back(
          d.gainMap.values[std::size_t((p.panel * d.slowPixels + p.slow) * d.fastPixels + p.fast)]);
  };
  std::size_t last = order.empty() ? 0 : order.front();
  const auto endRow = [&] {
    while (fast.values.size() % width != 0)
      append(pixels[last]);
  };
  for (const std::size_t i : order) {
    if (rowOf(i) != rowOf(last))
      endRow();
    listed.places[i] = fast.values.size();
    append(pixels[last = i]);
  }
  if (order.empty())
    append(pixels[last]); // no kernel takes an image without pixels
  endRow();

  listed.imagePixels = fast.values.size();
  listed.findRuns();
  d.wholeFastPixels = d.fastPixels;
  d.wholeSlowPixels = d.slowPixels;
  d.fastPixels = std::int64_t(width);
  d.slowPixels = std::int64_t(listed.imagePixels / width);
  d.roiFastMin = d.roiSlowMin = 0;
  d.roiFastMax = d.fastPixels - 1;
  d.roiSlowMax = d.slowPixels - 1;
  d.mask.clear();
  experiment.variant.mask = false;
  d.gainMap = std::move(gain);
  d.listPanel = std::move(panel);
  d.listSlow = std::move(slow);
  d.listFast = std::move(fast);
  experiment.variant.pixelList = true;
  return listed;
}

PixelIndex pixelAt(const Detector &d, bool listed, std::size_t place) {
  if (listed)
    return {std::int64_t(d.listPanel.values[place]), std::int64_t(d.listSlow.values[place]),
            std::int64_t(d.listFast.values[place])};
  const auto row = std::int64_t(place) / d.fastPixels;
  return {row / d.slowPixels, row % d.slowPixels, std::int64_t(place) % d.fastPixels};
}

ListedPixels listPlaces(Experiment &experiment, std::span<const std::size_t> places) {
  Detector &d = experiment.detector;
  std::vector<PixelIndex> pixels;
  for (const std::size_t place : places)
    pixels.push_back(pixelAt(d, experiment.variant.pixelList, place));
  if (!experiment.variant.pixelList)
    return listPixels(experiment, pixels);
  d.fastPixels = d.wholeFastPixels;
  d.slowPixels = d.wholeSlowPixels;
  d.roiFastMax = d.fastPixels - 1;
  d.roiSlowMax = d.slowPixels - 1;
  const PixelMap gains = d.gainMap;
  const bool hasGains = std::exchange(experiment.variant.gainMap, false);
  experiment.variant.pixelList = false;
  const ListedPixels listed = listPixels(experiment, pixels);
  experiment.variant.gainMap = hasGains;
  if (hasGains) {
    d.gainMap.values.assign(listed.imagePixels, 1);
    for (std::size_t i = 0; i != places.size(); ++i)
      d.gainMap.values[listed.places[i]] = gains.values[places[i]];
  }
  return listed;
}

} // namespace nanobragg
