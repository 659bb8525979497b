#include "lib/Experiment/KernelSpecification.h"

#include <gmock/gmock.h>

namespace nanobragg {
namespace {

using testing::ElementsAre;

TEST(KernelSpecification, TextAndBack) {
  const KernelSpecification all = {
      "shape=square mask=no", "vjp(cell_a)", {"layers=1", "sources=2"}};
  const std::string text =
      "shape=square mask=no derivative=vjp(cell_a) fixed:layers=1 fixed:sources=2";
  EXPECT_EQ(all.toString(), text);
  const KernelSpecification back = KernelSpecification::fromString(text);
  EXPECT_EQ(back.variant, all.variant);
  EXPECT_EQ(back.derivative, all.derivative);
  EXPECT_EQ(back.fixed, all.fixed);
}

TEST(KernelSpecification, PartsMayBeMissing) {
  EXPECT_EQ((KernelSpecification{"mask=no", "none", {}}).toString(), "mask=no");
  EXPECT_EQ((KernelSpecification{"", "", {"layers=1"}}).toString(), "fixed:layers=1");
  EXPECT_EQ(KernelSpecification().toString(), "");
  const KernelSpecification own = KernelSpecification::fromString("fixed:layers=1");
  EXPECT_EQ(own.variant, "");
  EXPECT_EQ(own.derivative, "");
  EXPECT_THAT(own.fixed, ElementsAre("layers=1"));
}

} // namespace
} // namespace nanobragg
