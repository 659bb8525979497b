#include "lib/Program/Specialize.h"

#include <gmock/gmock.h>

using namespace nanobragg;
using testing::Contains;
using testing::Not;
using testing::UnorderedElementsAre;

namespace {

const FixedCount oversample{"oversample", 1}, a{"ncells_a", 10}, b{"ncells_b", 5},
    c{"ncells_c", 64};

Experiment experimentOf(std::array<double, 3> cells) {
  Experiment experiment;
  experiment.crystal.ncells = cells;
  experiment.crystal.mosaicUnitAngle.assign(3, 0.0);
  experiment.beam.sourceWeight = {1};
  return experiment;
}

std::vector<FixedCount> countsOf(const Experiment &experiment, Precision precision = Precision::F64,
                                 const Derivative &derivative = {}) {
  return specializedCounts(experiment, precision, derivative);
}

TEST(Specialize, UsualKernelsKnowOneSubPixel) {
  Experiment experiment = experimentOf({10, 5, 64});
  EXPECT_THAT(usualCounts(experiment), UnorderedElementsAre(oversample));
  experiment.detector.oversample = 2;
  EXPECT_THAT(usualCounts(experiment), UnorderedElementsAre());
}

TEST(Specialize, NumbersOfCellsAndSumsOfOneTermAreKnown) {
  const std::vector<FixedCount> counts = countsOf(experimentOf({10, 5, 64}));
  for (const FixedCount &count : {oversample, a, b, c, FixedCount{"sources", 1}, {"phi_steps", 1}})
    EXPECT_THAT(counts, Contains(count)) << count.toString();
  for (const FixedCount &count : counts)
    EXPECT_NE(count.name, "mosaic_domains") << "a sum of three terms";
}

TEST(Specialize, WhatWouldMoveTheImageIsNot) {
  const std::vector<FixedCount> counts = countsOf(experimentOf({10.5, 65, 0.5}));
  const auto cells = [](const std::vector<FixedCount> &of) {
    return std::ranges::count_if(of, [](auto &count) { return count.name.starts_with("ncells"); });
  };
  EXPECT_EQ(cells(counts), 0);
  Experiment experiment = experimentOf({10, 5, 64});
  EXPECT_EQ(cells(countsOf(experiment)), 3);
  EXPECT_EQ(cells(countsOf(experiment, Precision::Mixed)), 0);
  EXPECT_EQ(cells(countsOf(experiment, Precision::F64, {Derivative::Mode::VJP, {"ncells_b"}})), 0);
  EXPECT_EQ(cells(countsOf(experiment, Precision::F64, {Derivative::Mode::VJP, {"cell_a"}})), 3);
  experiment.variant.shape = CrystalShape::Round;
  EXPECT_EQ(cells(countsOf(experiment)), 0);
}

} // namespace
