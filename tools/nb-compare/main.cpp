// Nb-compare: are two images the same?.

#include "tools/nb-compare/DifferencePicture.h"
#include "tools/nb-compare/Report.h"
#include "tools/nb-compare/Thresholds.h"
#include "tools/shared/ParseExit.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

using namespace nanobragg;

namespace {

enum ExitStatus { Same = 0, BadInput = 1, Different = 3 };

struct Arguments {
  std::string test, reference;
  std::optional<Shape> shape;
  std::optional<std::array<std::int64_t, 4>> roi;
  PixelTolerance tolerance;
  PeakSearch search;
  Thresholds thresholds;
  std::string png;
  bool json = false;
};

void declare(CLI::App &app, Arguments &a) {
  app.add_option("TEST", a.test, "image: .npy, SMV, or raw 32-bit floats")->required();
  app.add_option("REFERENCE", a.reference, "image of the same shape")->required();
  app.add_option("--shape", a.shape,
                 "slow and fast pixels of raw floats; default: those of the "
                 "other image, else square")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->type_name("SLOW,FAST");
  app.add_option("--roi", a.roi, "compare these pixels only, bounds inclusive, as nb-sim's -roi")
      ->type_name("FAST_MIN FAST_MAX SLOW_MIN SLOW_MAX");
  app.add_option("--png", a.png,
                 "picture of the difference: gray where the images agree, brighter "
                 "where TEST is above REFERENCE")
      ->type_name("FILE");
  app.add_flag("--json", a.json, "print JSON");

  const std::string tolerance = "Tolerance of a pixel: |TEST - REFERENCE| <= rtol * |REFERENCE| + "
                                "atol + atol-of-max * max |REFERENCE|";
  app.add_option("--rtol", a.tolerance.rtol, "relative tolerance")
      ->check(CLI::NonNegativeNumber)
      ->group(tolerance);
  app.add_option("--atol", a.tolerance.atol, "absolute tolerance")
      ->check(CLI::NonNegativeNumber)
      ->group(tolerance);
  app.add_option("--atol-of-max", a.tolerance.atolOfMax,
                 "absolute tolerance as a fraction of the largest reference pixel")
      ->check(CLI::NonNegativeNumber)
      ->group(tolerance);

  const std::string limits = "Thresholds: the exit status is 3 when one of them fails";
  Thresholds &t = a.thresholds;
  app.add_option("--min-correlation", t.minCorrelation, "Pearson's correlation")->group(limits);
  app.add_option("--max-sum-deviation", t.maxSumDeviation, "sum ratio minus 1, absolute")
      ->group(limits);
  app.add_option("--max-rms", t.maxRms, "RMS difference")->group(limits);
  app.add_option("--max-abs", t.maxAbsolute, "largest difference of a pixel")->group(limits);
  app.add_option("--max-rel", t.maxRelative, "largest relative difference of a pixel")
      ->group(limits);
  app.add_option("--max-peak-shift", t.maxPeakShift, "pixels, of any matching peak")->group(limits);
  app.add_option("--min-peaks", t.minPeaks, "peaks that match")->group(limits);

  app.add_option("--peaks", a.search.count, "brightest local maxima of each image to match")
      ->capture_default_str()
      ->group("Peaks");
  app.add_option("--peak-distance", a.search.distance, "pixels within which two peaks are the same")
      ->capture_default_str()
      ->group("Peaks");
}

io::ImageRegion regionOf(const Arguments &a, const Image &image) {
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

int run(const Arguments &a) {
  const auto [test, reference] = readImages(a.test, a.reference, a.shape);
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
  if (std::fwrite(report.data(), 1, report.size(), stdout) != report.size() ||
      std::fflush(stdout) != 0)
    throw std::runtime_error("cannot write to standard output");
  return failed.empty() ? Same : Different;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Compares two images, pixel by pixel and peak by peak.", "nb-compare");
  addVersion(app);
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    const auto given = [&](const char *name) { return app.count(name) > 0; };
    arguments.thresholds.perPixel = given("--rtol") || given("--atol") || given("--atol-of-max");
    return run(arguments);
  } catch (const CLI::ParseError &error) {
    return parseExit(app, error) == 0 ? Same : BadInput;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nb-compare: error: %s\n", printable(error.what()).c_str());
    return BadInput;
  }
}
