#include "test/engines/Engines.h"
#include "test/engines/RandomExperiment.h"

#include "dialect/NB.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;
using namespace mlir::nb;

namespace {

bool sameBits(const RenderedImage &a, const RenderedImage &b) {
  return a.shape == b.shape &&
         std::memcmp(a.pixels.data(), b.pixels.data(), a.pixels.size() * sizeof(double)) == 0;
}

TEST(Probes, LeaveTheImagesOfBothEnginesBitForBit) {
  for (uint64_t seed : {1, 2, 3, 4}) {
    nanobragg::Draws draws(seed);
    const nanobragg::ProgramVariant variant = randomVariant(draws);
    const nanobragg::Experiment experiment = randomExperiment(variant, draws);
    const BoundArguments arguments(experiment);
    OwningOpRef<ModuleOp> plain = programOf(variant), probed = programOf(variant);
    PassManager passes(&testContext());
    InsertProbesOptions options;
    options.outside = true;
    passes.addPass(createInsertProbes(options));
    ASSERT_TRUE(succeeded(passes.run(*probed)));
    size_t probes = 0;
    probed->walk([&](ProbeOp) { ++probes; });
    EXPECT_GT(probes, 50u);

    auto render = [&](ModuleOp program) {
      auto kernel = valueOf(compileFunction(program, "image", /*fused=*/false, {}));
      const nanobragg::Detector &d = experiment.detector;
      return renderImage(kernel->descriptor(), arguments.get(),
                         {experiment.panelCount(), d.slowPixels, d.fastPixels});
    };
    EXPECT_TRUE(sameBits(render(*plain), render(*probed))) << variant.toString();
    auto interpreted = [&](ModuleOp program) {
      return valueOf(
          interpretImage(program.lookupSymbol<func::FuncOp>("image"), arguments.get(), 1));
    };
    EXPECT_TRUE(sameBits(interpreted(*plain), interpreted(*probed))) << variant.toString();
  }
}

} // namespace
