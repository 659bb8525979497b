#include "dialect/CrystalShapes.h"

#include <gtest/gtest.h>

namespace mlir::nb {
namespace {

TEST(CrystalShapes, EnumeratorsOfTheDialectStandInTheOrderOfTheTable) {
  for (unsigned i = 0; i <= getMaxEnumValForShape(); ++i) {
    const auto shape = symbolizeShape(i);
    ASSERT_TRUE(shape);
    EXPECT_EQ(stringifyShape(*shape), rowOf(*shape).word);
  }
}

} // namespace
} // namespace mlir::nb
