#include "lib/Program/ParameterGroups.h"

#include "lib/Program/DeadGradients.h"
#include "lib/Program/ParameterElements.h"
#include "test/Experiment/Support.h"

#include <gmock/gmock.h>

namespace nanobragg {
namespace {

using Names = std::vector<std::string>;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::string whyNot(const std::string &text, const ProgramVariant &variant = {}) {
  try {
    resolveParameters(text, variant);
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParameterGroups, MembersAreDifferentiable) {
  for (const ParameterGroup &group : parameterGroups()) {
    EXPECT_EQ(findParameter(group.name), nullptr) << group.name << " is a parameter too";
    for (std::string_view member : group.members) {
      const Parameter *parameter = findParameter(member);
      ASSERT_TRUE(parameter) << group.name << " " << member;
      EXPECT_TRUE(parameter->differentiable()) << group.name << " " << member;
    }
  }
}

TEST(ParameterGroups, ResolveInTableOrderWithoutRepetition) {
  EXPECT_EQ(resolveParameters("distance,misset,cell_b,misset_y", {}),
            (Names{"cell_b", "misset_x", "misset_y", "misset_z", "distance"}));
}

TEST(ParameterGroups, OnlyWhatTheVariantUses) {
  ProgramVariant s;
  EXPECT_THAT(resolveParameters("cell", s), Not(Contains("reciprocal_matrix")));
  EXPECT_THAT(resolveParameters("detector", s), Not(Contains("close_distance")));
  s.cellSource = CellSource::Matrix;
  EXPECT_EQ(resolveParameters("cell", s), Names{"reciprocal_matrix"});
  const Names scalars = resolveParameters("scalars", s), all = resolveParameters("all", s);
  EXPECT_THAT(all, Contains("beam_direction"));
  EXPECT_THAT(scalars, Not(Contains("beam_direction")));
  EXPECT_GT(scalars.size(), 20u);
}

TEST(ParameterGroups, RefuseWithTheClosestName) {
  EXPECT_EQ(whyNot("cel_a"), "unknown parameter 'cel_a'; the closest is 'cell_a'");
  EXPECT_EQ(whyNot("misett"), "unknown parameter 'misett'; the closest is 'misset'");
  EXPECT_EQ(whyNot("phi_steps"),
            "'phi_steps' (number of phi steps) is a discrete choice and has no derivative");
  EXPECT_EQ(whyNot("fudge"), "'fudge' is not used by this experiment; --list-parameters shows "
                             "those that are");
  EXPECT_EQ(whyNot("energy"), "unknown parameter 'energy'; the closest is 'wavelength'");
  EXPECT_EQ(whyNot("temperature"), "unknown parameter 'temperature'");
  EXPECT_EQ(whyNot("cell,,misset"), "an empty name among the parameters 'cell,,misset'");
}

TEST(ParameterElements, EachNumberOnce) {
  Options options = cubic();
  options.panels = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {}}, {{10, 0, 1}, {1, 0, 0}, {0, 1, 0}, {}}};
  Inputs inputs;
  auto grid = std::make_shared<HklGrid>();
  *grid = {-1, 1, 0, 1, 2, 4, std::vector<double>(18, 1.0)};
  inputs.grid = grid;
  Experiment e = completeRight(options, inputs).experiment;
  const Parameter &f = *findParameter("F"), &offset = *findParameter("panel_offset"),
                  &a = *findParameter("cell_a");
  EXPECT_EQ(elementCount(e, a), 1u);
  EXPECT_EQ(elementCount(e, f), 18u);
  EXPECT_EQ(elementCount(e, offset), 6u);
  EXPECT_EQ(elementName(e, a, 0), "cell_a");
  EXPECT_EQ(elementName(e, f, 0), "F(-1,0,2)");
  EXPECT_EQ(elementName(e, f, 17), "F(1,1,4)");
  EXPECT_EQ(elementName(e, offset, 5), "panel_offset[1].z");
  EXPECT_EQ(elementName(e, *findParameter("beam_direction"), 1), "beam_direction.y");
  EXPECT_EQ(elementName(e, *findParameter("source_weight"), 0), "source_weight[0]");

  element(e, offset, 5) = 0.25;
  EXPECT_EQ(e.detector.panels[1].offset[2], 0.25);
  ownGrid(e);
  element(e, f, 17) = 7;
  EXPECT_EQ(e.crystal.grid->values[17], 7);
  EXPECT_EQ(grid->values[17], 1) << "the grid of others has changed";
  EXPECT_THROW(element(e, f, 18), std::out_of_range);
}

Names deadNames(const Options &options, const std::string &wanted, double defaultF = 100) {
  Experiment e = completeRight(options).experiment;
  e.crystal.defaultF = defaultF;
  Names names;
  for (const DeadGradient &dead : deadGradients(e, resolveParameters(wanted, e.variant)))
    names.push_back(dead.parameter);
  return names;
}

TEST(DeadGradients, NothingButTheSmoothOnes) {
  EXPECT_THAT(deadNames(cubic(), "cell,misset,ncells,default_F,distance"), testing::IsEmpty());
}

TEST(DeadGradients, WithoutStructureFactorsAllAre) {
  Options options = cubic();
  EXPECT_THAT(deadNames(options, "cell_a,distance,default_F", 0),
              ElementsAre("cell_a", "default_F", "distance"));
  options.water = 10;
  EXPECT_THAT(deadNames(options, "distance,water,fluence", 0), testing::IsEmpty());
}

TEST(DeadGradients, SingleSamples) {
  EXPECT_THAT(deadNames(cubic(), "mosaic,osc,dispersion,divergence,source_weight"),
              ElementsAre("mosaic_spread", "osc", "dispersion", "hdiv_range", "vdiv_range",
                          "source_weight"));
  Options options = cubic();
  options.mosaicSpread = 1;
  options.mosaicDomains = 5;
  options.osc = 1;
  options.phiSteps = 4;
  EXPECT_THAT(deadNames(options, "mosaic,osc"), testing::IsEmpty());
}

TEST(DeadGradients, EdgesOfATophat) {
  Options options = cubic();
  options.shape = CrystalShape::Tophat;
  EXPECT_THAT(deadNames(options, "cell_a,ncells_a,distance,wavelength"),
              ElementsAre("cell_a", "wavelength"));
}

} // namespace
} // namespace nanobragg
