// Nb-compare: are two images the same?

#include "tools/shared/Main.h"
#include "lib/CommandLine/OwnFlags.h"
#include "tools/nb-compare/DifferencePicture.h"
#include "tools/nb-compare/Report.h"

#include <algorithm>
#include <span>
#include <sstream>

using namespace nanobragg;

namespace {

struct Command {
  std::optional<Shape> shape;
  std::optional<std::array<std::int64_t, 4>> roi;
  PixelTolerance tolerance;
  PeakSearch search;
  Thresholds thresholds;
  std::string png;
  bool json = false;
};

using C = Command;
using Text = std::string;

double positive(const char *flag, const Text &v) { return numberOf(flag, v, Range::notNegative()); }

double limit(const char *flag, const Text &v) { return numberOf(flag, v, Range::any()); }

/// Whoever says what is tolerated asks whether it is kept.
void tolerate(C &c, double &which, const char *flag, const Text &v) {
  which = positive(flag, v);
  c.thresholds.perPixel = true;
}

constexpr OwnFlag<C> flags[] = {
    {"--shape", "SLOW,FAST",
     "slow and fast pixels of raw floats; default: those of the other image, else square",
     [](C &c, const Text &v) {
       const std::vector<Text> counts = listOf(v);
       if (counts.size() != 2)
         throw UsageError("--shape: '" + v + "' is not SLOW,FAST");
       constexpr double most = 0x1p53; // beyond it doubles are not exact
       c.shape =
           Shape{countOf("--shape", counts[0], 1, most), countOf("--shape", counts[1], 1, most)};
     }},
    {"--roi", "FAST_MIN FAST_MAX SLOW_MIN SLOW_MAX",
     "compare these pixels only, bounds inclusive, as nb-sim's -roi",
     [](C &c, const Text &v) {
       std::istringstream bounds(v);
       Text bound;
       for (std::int64_t &number : c.roi.emplace())
         number = bounds >> bound ? countOf("--roi", bound, -1e9, 1e9) : 0;
     }},
    {"--png", "FILE",
     "picture of the difference: gray where the images agree, brighter where TEST is above "
     "REFERENCE",
     keeps<&C::png>},
    {"--json", "", "print JSON", keeps<&C::json>},
    {"--peaks", "N", "brightest local maxima of each image to match; default: 20",
     [](C &c, const Text &v) { c.search.count = std::size_t(countOf("--peaks", v, 0, 1e9)); }},
    {"--peak-distance", "X", "pixels within which two peaks are the same; default: 5",
     [](C &c, const Text &v) { c.search.distance = positive("--peak-distance", v); }},
    {"--rtol", "X", "relative tolerance",
     [](C &c, const Text &v) { tolerate(c, c.tolerance.rtol, "--rtol", v); }},
    {"--atol", "X", "absolute tolerance",
     [](C &c, const Text &v) { tolerate(c, c.tolerance.atol, "--atol", v); }},
    {"--atol-of-max", "X", "absolute tolerance as a fraction of the largest reference pixel",
     [](C &c, const Text &v) { tolerate(c, c.tolerance.atolOfMax, "--atol-of-max", v); }},
    {"--min-correlation", "X", "least correlation (Pearson)",
     [](C &c, const Text &v) { c.thresholds.minCorrelation = limit("--min-correlation", v); }},
    {"--max-sum-deviation", "X", "largest deviation of the ratio of the sums from 1",
     [](C &c, const Text &v) { c.thresholds.maxSumDeviation = limit("--max-sum-deviation", v); }},
    {"--max-rms", "X", "largest RMS difference",
     [](C &c, const Text &v) { c.thresholds.maxRms = limit("--max-rms", v); }},
    {"--max-abs", "X", "largest difference of a pixel",
     [](C &c, const Text &v) { c.thresholds.maxAbsolute = limit("--max-abs", v); }},
    {"--max-rel", "X", "largest relative difference of a pixel",
     [](C &c, const Text &v) { c.thresholds.maxRelative = limit("--max-rel", v); }},
    {"--max-peak-shift", "X", "largest shift of a matching peak, in pixels",
     [](C &c, const Text &v) { c.thresholds.maxPeakShift = limit("--max-peak-shift", v); }},
    {"--min-peaks", "N", "least number of peaks that match",
     [](C &c, const Text &v) {
       c.thresholds.minPeaks = std::size_t(countOf("--min-peaks", v, 0, 1e9));
     }},
};

std::string usage() {
  constexpr std::size_t column = 24;
  constexpr auto all = std::span(flags);
  const auto at = [&](std::string_view name) {
    return std::size_t(std::ranges::find(all, name, &OwnFlag<C>::name) - all.begin());
  };
  const std::size_t tolerances = at("--rtol"), limits = at("--min-correlation");
  return "usage: nb-compare TEST REFERENCE [--rtol=X] [--max-abs=X] ...\n\n"
         "Compares two images of the same shape, pixel by pixel and peak by peak: .npy, SMV, or "
         "raw\n"
         "32-bit floats.\n\n"
         "Flags:\n" +
         describeOwnFlags<C>(all.first(tolerances), column) + describeCommonFlags(column) +
         "\nTolerance of a pixel, |TEST - REFERENCE| <= rtol * |REFERENCE| + atol + atol-of-max * "
         "max |REFERENCE|:\n" +
         describeOwnFlags<C>(all.subspan(tolerances, limits - tolerances), column) +
         "\nThresholds:\n" + describeOwnFlags<C>(all.subspan(limits), column) +
         "\nExit status: 0; 1: an image cannot be read; 2: usage; 3: a threshold or tolerance is "
         "not kept.\n";
}

io::ImageRegion regionOf(const Command &a, const Image &image) {
  io::ImageRegion region = image.region();
  if (!a.roi)
    return region;
  const auto [fastMin, fastMax, slowMin, slowMax] = *a.roi;
  region.fastMin = fastMin;
  region.fastMax = fastMax;
  region.slowMin = slowMin;
  region.slowMax = slowMax;
  return region;
}

int run(const std::vector<std::string> &words) {
  Command a;
  const std::vector<Text> names = takeOwnFlags<C>(flags, words, a, OtherWords::Names);
  if (names.size() < 2)
    throw UsageError("two images are compared: name TEST and REFERENCE");
  if (names.size() > 2)
    throw UsageError("unexpected argument '" + names[2] + "': two images are compared");
  const auto [test, reference] = readImages(names[0], names[1], a.shape);
  const io::ImageRegion region = regionOf(a, test);
  const Comparison comparison = compare(test, reference, region, a.tolerance, a.search);
  if (comparison.pixels == 0)
    throw std::runtime_error("--roi leaves no pixel to compare; the image has " +
                             std::to_string(test.slow) + " x " + std::to_string(test.fast));
  const auto failed = failures(comparison, a.thresholds);
  if (!a.png.empty())
    writeDifference(a.png, test, reference, region);
  const std::string report =
      a.json ? jsonReport(comparison, failed) : textReport(comparison, failed);
  if (print(report) != Success)
    throw std::runtime_error("cannot write to standard output");
  return failed.empty() ? Success : Different;
}

} // namespace

int main(int argc, char **argv) { return runTool("nb-compare", usage, argc, argv, run); }
