#include "test/engines/Engines.h"
#include "test/engines/RandomExperiment.h"

#include "lib/Compiler/Compare/RecordStages.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace mlir::nb;

namespace {

/// Each pass by the interpreter before and after it.
TEST(Stages, NoPassChangesTheImage) {
  double worst = 0;
  for (uint64_t seed = 500; seed < 560; ++seed) {
    nanobragg::Draws draws(seed);
    const nanobragg::ProgramVariant variant = randomVariant(draws);
    const nanobragg::Experiment experiment = randomExperiment(variant, draws);
    const BoundArguments arguments(experiment);
    OwningOpRef<ModuleOp> program = programOf(variant);
    const std::vector<RecordedProgram> stages = valueOf(recordStages(*program));
    std::optional<RenderedImage> before;
    for (const RecordedProgram &stage : stages) {
      RenderedImage after = valueOf(interpretImage(
          stage.program.get().lookupSymbol<func::FuncOp>("image"), arguments.get(), 1));
      if (before) {
        double maximum = 0;
        for (double value : before->pixels)
          maximum = std::max(maximum, std::fabs(value));
        for (size_t i = 0; i < after.pixels.size(); ++i) {
          const double expected = before->pixels[i];
          const double off = std::fabs(after.pixels[i] - expected);
          const double allowed = 1e-12 * std::fabs(expected) + 1e-14 * maximum;
          worst = off > 0 ? std::max(worst, off / allowed) : worst;
          ASSERT_LE(off, allowed) << "seed " << seed << ", pixel " << i << " after " << stage.name
                                  << "\n"
                                  << variant.toString();
        }
      }
      before = std::move(after);
    }
  }
  std::printf("worst %.2g of the tolerance\n", worst);
}

} // namespace
