#include "runtime/simulator/Invariants.h"

#include "lib/Experiment/Formatted.h"
#include "lib/Images/ImageRegion.h"
#include "lib/Process/Environment.h"
#include "lib/Program/ParameterElements.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace nanobragg {
namespace {

constexpr double largest = 1e40, smallest = 1e-40; // SI units
constexpr double rounding = 1e-9;                  // in a sum of light

bool isExtreme(double number) {
  const double size = std::fabs(number);
  return !(size <= largest) || (size > 0 && size < smallest);
}

bool hasExtremeNumbers(const Experiment &experiment) {
  for (const Parameter *parameter : parametersOf(experiment.variant))
    if (parameter->place.numbers)
      for (std::size_t i = 0; i != elementCount(experiment, *parameter); ++i)
        if (isExtreme(element(experiment, *parameter, i)))
          return true;
  return false;
}

bool takesPhotonsAway(const Experiment &experiment) {
  const auto negative = [](double number) { return number < 0; };
  const ProgramVariant &variant = experiment.variant;
  // Bent as the C program does it, a detector absorbs as the flat one, behind its plane too.
  const bool behind = variant.curvature == Curvature::C && variant.capture != Capture::None;
  return variant.faces != Rule::Right || behind ||
         std::ranges::any_of(experiment.background.factor.values, negative) ||
         std::ranges::any_of(experiment.beam.sourceWeight, negative);
}

[[noreturn]] void fail(const std::string &what) {
  throw std::logic_error(what + ", which is a bug (NB_CHECK_IMAGES)");
}

std::string textOf(double number) { return formatted("%.9g", number); }

double sumOf(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

} // namespace

bool checksImages() {
#ifdef NDEBUG
  constexpr bool otherwise = false;
#else
  constexpr bool otherwise = true;
#endif
  const std::string_view said = environmentVariable("NB_CHECK_IMAGES");
  return said.empty() ? otherwise : said != "0";
}

template <typename T>
void checkImage(const Experiment &experiment, Precision precision, std::span<const T> image) {
  const io::ImageRegion region = io::ImageRegion::of(experiment);
  const std::vector<std::uint8_t> &mask = experiment.detector.mask;
  std::vector<bool> rendered(image.size());
  region.forEachPixel([&](std::size_t i) { rendered[i] = mask.empty() || mask[i]; });
  for (std::size_t i = 0; i != image.size(); ++i) {
    const T photons = image[i];
    if (rendered[i] ? photons >= 0 && std::isfinite(photons) : photons == 0)
      continue;
    if (rendered[i] && std::isfinite(photons) && takesPhotonsAway(experiment))
      continue;
    if (rendered[i] && !std::isfinite(photons) &&
        (hasExtremeNumbers(experiment) || exceedsLimits(precision, experiment)))
      continue;
    const std::size_t fast = std::size_t(region.fastPixels), slow = std::size_t(region.slowPixels);
    fail("pixel " + std::to_string(i / fast / slow) + "," + std::to_string(i / fast % slow) + "," +
         std::to_string(i % fast) + " (panel, slow, fast), which is " +
         (rendered[i] ? "" : "not ") + "rendered, has " + textOf(double(photons)) + " photons");
  }
}
template void checkImage(const Experiment &, Precision, std::span<const float>);
template void checkImage(const Experiment &, Precision, std::span<const double>);

void checkSpread(std::span<const double> photons, std::span<const double> light,
                 std::int64_t slowPixels, std::int64_t fastPixels, std::int64_t radius) {
  if (std::ranges::any_of(photons, [](double number) { return number < 0; }))
    return;
  double inside = 0;
  const auto panels = std::int64_t(photons.size()) / (slowPixels * fastPixels);
  for (std::int64_t panel = 0; panel != panels; ++panel)
    for (std::int64_t slow = radius; slow < slowPixels - radius; ++slow)
      for (std::int64_t fast = radius; fast < fastPixels - radius; ++fast)
        inside += photons[std::size_t((panel * slowPixels + slow) * fastPixels + fast)];
  const double most = sumOf(photons), spread = sumOf(light), slack = rounding * most;
  if (!(spread <= most + slack) || !(spread >= inside - slack))
    fail("the light of all pixels is " + textOf(spread) + " photons, and should be from " +
         textOf(inside) + " to " + textOf(most));
}

} // namespace nanobragg
