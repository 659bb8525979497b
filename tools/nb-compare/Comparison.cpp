#include "tools/nb-compare/Comparison.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace nanobragg {
namespace {

bool sameKind(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

class Comparer {
public:
  Comparer(const Image &test, const Image &reference, const io::ImageRegion &region,
           const PixelTolerance &tolerance)
      : test(test), reference(reference), region(region), tolerance(tolerance) {}

  Comparison run() {
    sums();
    differences();
    return result;
  }

private:
  bool finite(std::size_t i) const {
    return std::isfinite(test.pixels[i]) && std::isfinite(reference.pixels[i]);
  }

  void sums() {
    region.forEachPixel([&](std::size_t i) {
      ++result.pixels;
      if (!finite(i)) {
        ++(sameKind(test.pixels[i], reference.pixels[i]) ? result.notFinite
                                                         : result.notFiniteInOne);
        return;
      }
      ++result.compared;
      result.testSum += test.pixels[i];
      result.referenceSum += reference.pixels[i];
      largest = std::max(largest, std::fabs(reference.pixels[i]));
    });
    if (result.referenceSum != 0)
      result.sumRatio = result.testSum / result.referenceSum;
    else if (result.testSum == 0)
      result.sumRatio = 1;
  }

  /// The second sweep: deviations from the means lose no digits, and the largest value is known.
  void differences() {
    const double count = double(std::max<std::int64_t>(result.compared, 1));
    const double testMean = result.testSum / count, referenceMean = result.referenceSum / count;
    double testVariance = 0, referenceVariance = 0, covariance = 0, squares = 0;
    result.beyondTolerance = result.notFiniteInOne;
    region.forEachPixel([&](std::size_t i) {
      if (!finite(i))
        return;
      const double a = test.pixels[i] - testMean, b = reference.pixels[i] - referenceMean;
      testVariance += a * a;
      referenceVariance += b * b;
      covariance += a * b;
      const double difference = std::fabs(test.pixels[i] - reference.pixels[i]);
      squares += difference * difference;
      if (difference > 0)
        record(i, difference);
    });
    result.rms = std::sqrt(squares / count);
    if (testVariance > 0 && referenceVariance > 0)
      result.correlation =
          std::clamp(covariance / std::sqrt(testVariance) / std::sqrt(referenceVariance), -1., 1.);
    else if (result.different == 0)
      result.correlation = 1;
  }

  void record(std::size_t i, double difference) {
    ++result.different;
    const double size = std::fabs(reference.pixels[i]);
    raise(result.maxAbsolute, i, difference);
    raise(result.maxRelative, i, difference / size);
    const double allowed = tolerance.rtol * size + tolerance.atol + tolerance.atolOfMax * largest;
    if (difference > allowed) {
      ++result.beyondTolerance;
      raise(result.worstBeyond, i, difference / allowed);
    }
  }

  void raise(std::optional<WorstPixel> &worst, std::size_t i, double measure) const {
    if (worst && worst->difference >= measure)
      return;
    const auto row = std::int64_t(i) / test.fast;
    worst = {measure,        row / test.slow,    row % test.slow, std::int64_t(i) % test.fast,
             test.pixels[i], reference.pixels[i]};
  }

  const Image &test, &reference;
  const io::ImageRegion &region;
  const PixelTolerance &tolerance;
  double largest = 0; ///< |reference|
  Comparison result;
};

PeakComparison comparePeaks(const Image &test, const Image &reference,
                            const io::ImageRegion &region, const PeakSearch &search) {
  const auto testPeaks = findPeaks(test, region, search.count);
  const auto referencePeaks = findPeaks(reference, region, search.count);
  PeakComparison peaks;
  peaks.test = testPeaks.size();
  peaks.reference = referencePeaks.size();
  peaks.matches = matchPeaks(testPeaks, referencePeaks, search.distance);
  peaks.matched = peaks.matches.size();
  for (const PeakMatch &match : peaks.matches) {
    peaks.meanShift += match.shift / double(peaks.matched);
    peaks.maxShift = std::max(peaks.maxShift, match.shift);
  }
  std::sort(peaks.matches.begin(), peaks.matches.end(),
            [](const PeakMatch &a, const PeakMatch &b) { return brighter(a.second, b.second); });
  return peaks;
}

} // namespace

Comparison compare(const Image &test, const Image &reference, const io::ImageRegion &region,
                   const PixelTolerance &tolerance, const PeakSearch &search) {
  Comparison result = Comparer(test, reference, region, tolerance).run();
  result.peaks = comparePeaks(test, reference, region, search);
  return result;
}

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
