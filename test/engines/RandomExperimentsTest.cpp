#include "test/engines/Engines.h"
#include "test/engines/RandomExperiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

using namespace mlir;
using namespace mlir::nb;
using nanobragg::Experiment;

namespace {

constexpr EngineTolerance tolerance{1e-9, 1e-12};
constexpr int variants = 70, experimentsPerVariant = 3;

/// The difference that a pixel may have, for all pixels.
std::vector<double> allowedOf(const RenderedImage &reference) {
  double maximum = 0;
  for (double value : reference.pixels)
    maximum = std::max(maximum, std::fabs(value));
  std::vector<double> allowed;
  for (double value : reference.pixels)
    allowed.push_back(tolerance.rtol * std::fabs(value) + tolerance.atolOfMax * maximum);
  return allowed;
}

/// Where an edge (a cutoff, a change of reflection) lies within rounding of a sample: the reference
/// itself jumps when the wavelengths change in their last digits.
std::vector<bool> chaoticPixels(BothEngines &engines, const Experiment &experiment,
                                const RenderedImage &reference,
                                const std::vector<double> &allowed) {
  std::vector<bool> chaotic(reference.pixels.size());
  for (double change : {-1e-14, 1e-14, -1e-13, 1e-13}) {
    Experiment nearby = experiment;
    nearby.beam.wavelength *= 1 + change;
    for (double &wavelength : nearby.beam.sourceWavelength)
      wavelength *= 1 + change;
    const RenderedImage image = engines.interpreted(nearby);
    for (size_t i = 0; i < chaotic.size(); ++i)
      if (!(std::fabs(image.pixels[i] - reference.pixels[i]) <= allowed[i]))
        chaotic[i] = true;
  }
  return chaotic;
}

TEST(RandomExperiments, BothEnginesAgree) {
  double worst = 0;
  size_t lit = 0, excluded = 0;
  for (int seed = 0; seed < variants; ++seed) {
    nanobragg::Draws draws(1000 + uint64_t(seed));
    const nanobragg::ProgramVariant variant = randomVariant(draws);
    BothEngines engines(variant);
    for (int number = 0; number < experimentsPerVariant; ++number) {
      const Experiment experiment = randomExperiment(variant, draws);
      const RenderedImage reference = engines.interpreted(experiment);
      const RenderedImage image = engines.compiled(experiment);
      const std::vector<double> allowed = allowedOf(reference);
      std::optional<std::vector<bool>> chaotic;
      for (size_t i = 0; i < allowed.size(); ++i) {
        lit += reference.pixels[i] > 0;
        const double off = std::fabs(image.pixels[i] - reference.pixels[i]);
        if (off <= allowed[i]) {
          worst = off > 0 ? std::max(worst, off / allowed[i]) : worst;
          continue;
        }
        if (!chaotic)
          chaotic = chaoticPixels(engines, experiment, reference, allowed);
        const Pixel p = reference.pixelAt(i);
        if ((*chaotic)[i]) {
          ++excluded;
          std::printf("excluded: seed %d.%d, pixel %lld %lld %lld: the interpreter's value jumps "
                      "when the wavelength changes by 1e-13\n",
                      seed, number, (long long)p.panel, (long long)p.slow, (long long)p.fast);
          continue;
        }
        ADD_FAILURE() << "seed " << seed << "." << number << ", pixel " << p.panel << " " << p.slow
                      << " " << p.fast << ": kernel " << image.pixels[i] << ", interpreter "
                      << reference.pixels[i] << ", " << off / allowed[i] << " times the tolerance\n"
                      << variant.toString();
        break;
      }
    }
  }
  std::printf("%d experiments, %zu pixels with light, worst %.2g of the tolerance\n",
              variants * experimentsPerVariant, lit, worst);
  EXPECT_GT(lit, size_t(variants * experimentsPerVariant) * 100) << "the images are empty";
  EXPECT_LT(excluded, 20u);
}

} // namespace
