// The steps that bring a program of an earlier version of the dialect up to date.
#include "dialect/Upgrades.h"

#include "dialect/NB.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::nb;

namespace {

/// Writes down that it ran.
template <int number>
LogicalResult note(Operation *top) {
  auto before = top->getAttrOfType<StringAttr>("ran");
  top->setAttr("ran", StringAttr::get(top->getContext(),
                                      (before ? before.str() : "") + std::to_string(number)));
  return success();
}

LogicalResult refuse(Operation *) { return failure(); }

class UpgradesTest : public testing::Test {
protected:
  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> program{ModuleOp::create(UnknownLoc::get(&context))};
  std::string ran() const {
    auto text = (*program)->getAttrOfType<StringAttr>("ran");
    return text ? text.str() : "";
  }
};

TEST_F(UpgradesTest, RunsTheStepsFromTheProgramsVersionOnInOrder) {
  const DialectUpgrade steps[] = {{1, note<1>}, {2, note<2>}, {4, note<4>}};
  EXPECT_TRUE(succeeded(upgrade(*program, 2, steps)));
  EXPECT_EQ(ran(), "24");
  EXPECT_TRUE(succeeded(upgrade(*program, 5, steps)));
  EXPECT_EQ(ran(), "24") << "a program of today needs none";
}

TEST_F(UpgradesTest, StopsAtAStepThatFails) {
  const DialectUpgrade steps[] = {{1, refuse}, {2, note<2>}};
  EXPECT_TRUE(failed(upgrade(*program, 1, steps)));
  EXPECT_EQ(ran(), "");
}

TEST_F(UpgradesTest, TheDialectsStepsEndAtItsVersion) {
  for (const DialectUpgrade &step : dialectUpgrades())
    EXPECT_LT(step.from, dialectVersion);
}

} // namespace
