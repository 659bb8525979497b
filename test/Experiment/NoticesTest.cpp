#include "test/Experiment/Support.h"

#include <gmock/gmock.h>

#include <set>

namespace nanobragg {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Semantics, EverySwitchIsSetByC) {
  Semantics semantics = Semantics::c();
  std::set<std::string> names;
  for (const SemanticSwitch &s : semanticSwitches()) {
    EXPECT_EQ(semantics.*s.rule, Rule::C) << s.name;
    EXPECT_TRUE(names.insert(s.name).second) << s.name;
    semantics.*s.rule = Rule::Right;
  }
  // Nothing is left of C: the table lists every field.
  EXPECT_EQ(semantics, Semantics::right());
}

TEST(Notices, NoneWhereNothingDiffers) { EXPECT_THAT(completeRight(cubic()).notices, IsEmpty()); }

TEST(Notices, NameTheSwitchesOfThisRun) {
  Options options = cubic();
  options.cell = {{70, 80, 90, 75, 85, 95}};
  options.shape = CrystalShape::Gauss;
  options.thickness = 450;
  options.thickSteps = 4;
  options.water = 10;
  options.curved = true;
  options.adcOffset = -3;
  options.oversample = 1;
  EXPECT_THAT(completeRight(options).notices,
              testing::UnorderedElementsAre("cell-setting", "spot-metric", "layer-spacing",
                                            "layer-capture", "water", "curved-detector",
                                            "noise-wrap", "solid-angle-sum"));
}

TEST(Notices, NoneUnderC) {
  Options options = cubic();
  options.missetRandom = true;
  options.water = 10;
  options.curved = true;
  EXPECT_THAT(completeC(options).notices, IsEmpty());
  Semantics semantics = Semantics::c();
  semantics.water = Rule::Right;
  EXPECT_THAT(chooseDefaults(fromFlagUnits(options), {}, semantics).notices, ElementsAre("water"));
}

TEST(Notes, FirstSourceWhereTheOrderOfSourcesMatters) {
  Options options = cubic();
  Inputs inputs;
  inputs.sources = {{{-10, 0, 0}, 1, 1e-10}, {{-10, 1, 0}, 1, 1e-10}};
  const auto notes = [&](const Semantics &semantics = Semantics::right()) {
    return chooseDefaults(fromFlagUnits(options), inputs, semantics).notes;
  };
  EXPECT_THAT(notes(), ElementsAre(testing::HasSubstr("the first of the 2 sources")));
  EXPECT_THAT(notes(Semantics::c()), IsEmpty());
  options.oversamplePolar = true;
  EXPECT_THAT(notes(), IsEmpty()) << "each source has its own";
  options.oversamplePolar = false;
  options.noPolarization = true;
  EXPECT_THAT(notes(), IsEmpty()) << "no source has any";
  options.noPolarization = false;
  inputs.sources[1] = {{-20, 0, 0}, 1, 1.1e-10};
  EXPECT_THAT(notes(), IsEmpty()) << "polarization depends on directions, not on wavelengths";
}

} // namespace
} // namespace nanobragg
