#include "tools/nb-compare/Peaks.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace nanobragg {
namespace {

bool isPeak(const Image &image, std::size_t index, std::int64_t slow, std::int64_t fast) {
  const double value = image.pixels[index];
  if (!(value > 0))
    return false;
  for (std::int64_t ds = -1; ds <= 1; ++ds)
    for (std::int64_t df = -1; df <= 1; ++df) {
      const std::int64_t s = slow + ds, f = fast + df;
      if (s < 0 || s >= image.slow || f < 0 || f >= image.fast || (ds == 0 && df == 0))
        continue;
      const double neighbour =
          image.pixels[std::size_t(std::int64_t(index) + ds * image.fast + df)];
      // Among equal neighbours the first in the order of the image is the peak.
      const bool earlier = ds < 0 || (ds == 0 && df < 0);
      if (neighbour > value || (earlier && neighbour == value))
        return false;
    }
  return true;
}

} // namespace

bool brighter(const Peak &a, const Peak &b) {
  return std::tie(b.value, a.panel, a.slow, a.fast) < std::tie(a.value, b.panel, b.slow, b.fast);
}

std::vector<Peak> findPeaks(const Image &image, const io::ImageRegion &region, std::size_t count) {
  std::vector<Peak> peaks;
  region.forEachPixel([&](std::size_t index) {
    const auto row = std::int64_t(index) / image.fast, fast = std::int64_t(index) % image.fast;
    if (isPeak(image, index, row % image.slow, fast))
      peaks.push_back({row / image.slow, row % image.slow, fast, image.pixels[index]});
  });
  std::sort(peaks.begin(), peaks.end(), brighter);
  if (peaks.size() > count)
    peaks.resize(count);
  return peaks;
}

std::vector<PeakMatch> matchPeaks(const std::vector<Peak> &first, const std::vector<Peak> &second,
                                  double distance) {
  struct Candidate {
    std::size_t first, second;
    double shift;
  };
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i != first.size(); ++i)
    for (std::size_t j = 0; j != second.size(); ++j) {
      const double shift = std::hypot(double(first[i].slow - second[j].slow),
                                      double(first[i].fast - second[j].fast));
      if (first[i].panel == second[j].panel && shift <= distance)
        candidates.push_back({i, j, shift});
    }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return std::tie(a.shift, a.first, a.second) < std::tie(b.shift, b.first, b.second);
  });

  std::vector<bool> firstTaken(first.size()), secondTaken(second.size());
  std::vector<PeakMatch> matches;
  for (const Candidate &c : candidates) {
    if (firstTaken[c.first] || secondTaken[c.second])
      continue;
    firstTaken[c.first] = secondTaken[c.second] = true;
    matches.push_back({first[c.first], second[c.second], c.shift});
  }
  return matches;
}

} // namespace nanobragg
