#include "test/random/Trial.h"

#include "runtime/kernels/KernelProvider.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nanobragg::random_test {
namespace {

/// One for all trials of the process, without the cache of the user.
KernelProvider &kernels() {
  static KernelProvider provider;
  return provider;
}

Experiment makeExperiment(Draws &draws) {
  ProgramVariant variant = randomVariant(draws);
  variant.countingLoss = false; // the relations are of images that grow as the light does
  return randomExperiment(variant, draws);
}

double largest(std::span<const double> image) {
  double maximum = 0;
  for (double value : image)
    maximum = std::max(maximum, std::fabs(value));
  return maximum;
}

} // namespace

SimulatorOptions optionsOf(Engine engine, Precision precision, const std::string &device) {
  SimulatorOptions options;
  options.engine = engine;
  options.fallback = false;
  options.threads = 1;
  options.precision = precision;
  options.device = device;
  options.kernels = &kernels();
  return options;
}

Trial::Trial(std::uint64_t seed, Counts &counts)
    : seed(seed), counts(counts), numbers(seed), original(makeExperiment(numbers)),
      reference(imageOf(original, optionsOf(Engine::Fused))) {
  ++counts.trials;
  for (double value : reference)
    counts.lit += value > 0;
  for (std::size_t i = 0; i != reference.size(); ++i)
    cotangent.push_back(numbers.uniform(-1, 1));
  for (std::size_t i = 0; i != reference.size(); ++i)
    sumOfMagnitudes += std::fabs(cotangent[i] * reference[i]);
}

std::vector<double> Trial::imageOf(const Experiment &changed, const SimulatorOptions &options) {
  Simulator simulator(changed, options);
  const std::span<const double> image = simulator.value();
  ++counts.images;
  return {image.begin(), image.end()};
}

std::vector<Gradient> Trial::gradientOf(const Experiment &changed, const SimulatorOptions &options,
                                        std::span<const double> weights) {
  Simulator simulator(changed, options);
  ++counts.gradients;
  return simulator.gradient("all", weights);
}

void Trial::fail(const std::string &what, const std::string &how) {
  if (!failed)
    std::printf("FAILED with --seed=%llu --trials=1: %s\n", static_cast<unsigned long long>(seed),
                original.variant.toString().c_str());
  failed = true;
  ++counts.failures;
  // One wrong thing shows in many places.
  constexpr int mostPrinted = 12;
  if (++printed <= mostPrinted)
    std::printf("  %s: %s%s\n", what.c_str(), how.c_str(), printed == mostPrinted ? " ..." : "");
}

const std::vector<bool> &Trial::jumps(const Tolerance &tolerance) {
  for (const auto &[jump, pixels] : jumping)
    if (jump == tolerance.jump)
      return pixels;
  std::vector<bool> found(reference.size());
  const double floor = tolerance.ofMaximum * largest(reference);
  for (double fraction : {-1.0, -0.3, -0.1, 0.1, 0.3, 1.0}) {
    Experiment nearby = original;
    nearby.beam.wavelength *= 1 + fraction * tolerance.jump;
    for (double &wavelength : nearby.beam.sourceWavelength)
      wavelength *= 1 + fraction * tolerance.jump;
    const std::vector<double> image = imageOf(nearby, optionsOf(Engine::Fused));
    for (std::size_t i = 0; i != found.size(); ++i)
      if (!(std::fabs(image[i] - reference[i]) <=
            tolerance.relative * std::fabs(reference[i]) + floor))
        found[i] = true;
  }
  return jumping.emplace_back(tolerance.jump, std::move(found)).second;
}

void Trial::compareImages(const std::string &what, std::span<const double> got,
                          std::span<const double> expected, const Tolerance &tolerance) {
  if (got.size() != expected.size())
    return fail(what, std::to_string(got.size()) + " pixels instead of " +
                          std::to_string(expected.size()));
  const double floor = tolerance.ofMaximum * largest(expected);
  for (std::size_t i = 0; i != got.size(); ++i) {
    const double allowed = tolerance.relative * std::fabs(expected[i]) + floor;
    const double off = std::fabs(got[i] - expected[i]);
    if (off <= allowed) {
      counts.worst = off > 0 ? std::max(counts.worst, off / allowed) : counts.worst;
      continue;
    }
    if (jumps(tolerance)[i]) {
      ++counts.excluded;
      continue;
    }
    char text[160];
    std::snprintf(text, sizeof text,
                  "pixel %zu is %.17g instead of %.17g, %.3g times the tolerance", i, got[i],
                  expected[i], off / allowed);
    return fail(what, text);
  }
}

void Trial::compareDerivatives(const std::string &what, const std::string &parameter, double got,
                               double expected, double relative, double ofLoss) {
  const auto [known, isNew] = largestOf.try_emplace(parameter);
  if (isNew)
    known->second = largest(Simulator(original, optionsOf(Engine::Fused)).get(parameter));
  // Terms cancel: where a derivative is zero it is the rounding errors of what it is a sum of,
  // which is of the size of the loss over that of the parameter.
  const double size = known->second > 0 ? known->second : 1;
  const double allowed = relative * std::fabs(expected) + ofLoss * sumOfMagnitudes / size;
  if (std::fabs(got - expected) <= allowed)
    return;
  char text[160];
  std::snprintf(text, sizeof text, "%.17g instead of %.17g, where %.3g is allowed", got, expected,
                allowed);
  fail(what, text);
}

} // namespace nanobragg::random_test
