#include "lib/Program/KernelSpecification.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace nanobragg {
namespace {

using testing::ElementsAre;

const Derivative byCell{Derivative::Mode::VJP, {"cell_a"}};

TEST(KernelSpecification, TextAndBack) {
  const ProgramVariant variant;
  const CullSetting cull = CullSetting::below(1e-9);
  const KernelSpecification all = {variant, byCell, {{"layers", 1}, {"sources", 2}}, cull};
  const std::string text =
      variant.toString() + " cull=1e-9 derivative=vjp(cell_a) fixed:layers=1 fixed:sources=2";
  EXPECT_EQ(all.toString(), text);
  const KernelSpecification back = KernelSpecification::fromString(text);
  EXPECT_EQ(back.variant, all.variant);
  EXPECT_EQ(back.derivative, all.derivative);
  EXPECT_EQ(back.fixed, all.fixed);
  EXPECT_EQ(back.cull, cull);
}

TEST(KernelSpecification, PartsMayBeMissing) {
  EXPECT_EQ((KernelSpecification{ProgramVariant(), {}, {}}).toString(),
            ProgramVariant().toString());
  EXPECT_EQ((KernelSpecification{{}, {}, {{"layers", 1}}}).toString(), "fixed:layers=1");
  EXPECT_EQ(KernelSpecification().toString(), "");
  const KernelSpecification own = KernelSpecification::fromString("fixed:layers=1");
  EXPECT_EQ(own.variant, std::nullopt);
  EXPECT_EQ(own.derivative, Derivative());
  EXPECT_THAT(own.fixed, ElementsAre(FixedCount{"layers", 1}));
}

TEST(KernelSpecification, RefusesWhatItDoesNotKnow) {
  for (const char *text : {"shape=cube", "fixed:layers", "fixed:layers=0", "fixed:layers=two",
                           "derivative=curl(cell_a)", "cull=off", "cull=2"})
    EXPECT_THROW(KernelSpecification::fromString(text), std::invalid_argument) << text;
}

} // namespace
} // namespace nanobragg
