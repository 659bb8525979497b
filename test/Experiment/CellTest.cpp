#include "lib/Experiment/CellGeometry.h"

#include "lib/Experiment/VectorAlgebra.h"
#include "lib/Quantities/Quantity.h"
#include "test/Experiment/Support.h"

namespace nanobragg {
namespace {

CompleteExperiment withCell(std::array<double, 6> cell, Semantics semantics) {
  Options options = cubic();
  options.cell = cell;
  return chooseDefaults(fromFlagUnits(options), {}, semantics);
}

void expectCell(const CellReport &cell, std::array<double, 6> expected, double tolerance) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(cell.lengths[i], expected[i], tolerance);
    EXPECT_NEAR(cell.angles[i] / degree, expected[3 + i], tolerance);
  }
}

TEST(Cell, MissingEdgesAndAngles) {
  Options options = cubic();
  findQuantity("-cell")->set(options, {40e-10});
  options.cell = toFlagUnits(options).cell;
  const Crystal crystal = completeRight(options).experiment.crystal;
  EXPECT_DOUBLE_EQ(crystal.cellB, 40e-10);
  EXPECT_DOUBLE_EQ(crystal.cellC, 40e-10);
  EXPECT_DOUBLE_EQ(crystal.cellGamma, 90 * degree);
}

TEST(Cell, TriclinicCellsOfTheCProgram) {
  auto angles = [](std::array<double, 6> cell, Vec3 expected, double tolerance = 5e-5) {
    CompleteExperiment complete = withCell(cell, Semantics::c());
    expectCell(complete.report.cell,
               {cell[0], cell[1], cell[2], expected[0], expected[1], expected[2]}, tolerance);
    EXPECT_EQ(complete.experiment.variant.cellSetting, Rule::C);
  };
  angles({60, 60, 60, 60, 60, 60}, {57.8490, 57.8490, 58.5252});
  angles({70, 80, 90, 75, 85, 95}, {75.0391, 85.0136, 95.0081});
  angles({37, 43, 52, 65, 75, 70}, {64.4339, 74.6295, 69.7854});
  angles({37, 43, 52, 82, 95, 104}, {81.9821, 95.0113, 104.002}, 5e-4);
}

TEST(Cell, TriclinicCellsKeepTheirAngles) {
  for (std::array<double, 6> cell : {std::array<double, 6>{60, 60, 60, 60, 60, 60},
                                     {70, 80, 90, 75, 85, 95},
                                     {37, 43, 52, 65, 75, 70}}) {
    CompleteExperiment complete = withCell(cell, Semantics::right());
    expectCell(complete.report.cell, cell, 1e-10);
    EXPECT_TRUE(notes(complete, "cell-setting"));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(dot(complete.report.cell.vectors[i], complete.report.reciprocalCell.vectors[j]),
                    i == j ? 1 : 0, 1e-13);
  }
}

TEST(Cell, OneNonRightAngleIsTheSameInBoth) {
  for (std::array<double, 6> cell : {std::array<double, 6>{45, 45, 60, 90, 90, 120},
                                     {37, 43, 52, 90, 112, 90},
                                     {40, 50, 60, 90, 90, 90}}) {
    CompleteExperiment right = withCell(cell, Semantics::right()),
                       c = withCell(cell, Semantics::c());
    expectCell(c.report.cell, cell, 1e-9);
    EXPECT_FALSE(notes(right, "cell-setting"));
    expectNear(right.report.cell.vectors[2], c.report.cell.vectors[2], 1e-10);
  }
}

TEST(Cell, MissetVectorsOfTheCProgram) {
  Options options = cubic();
  options.cell = {{100, 110, 120, 90, 100, 90}};
  options.misset = {{10, 20, 30}};
  Report report = completeC(options).report;
  expectNear(report.cell.vectors[0], {73.57045573, 45.95777058, -49.75209913}, 5e-9);
  expectNear(report.cell.vectors[2], {45.42267676, 2.16339735, 111.04998941}, 5e-9);
  expectNear(report.reciprocalCell.vectors[1], {-0.00400881, 0.00802331, 0.00148342}, 5e-9);
  EXPECT_NEAR(report.volume, 1.29995e6, 5);
  expectCell(report.reciprocalCell, {0.0101543, 0.00909091, 0.00846189, 90, 80, 90}, 5e-8);
}

// A left-handed matrix and its mirror image.
constexpr Mat3 leftHanded{-0.0169046284, 0.0146892658, 0.0012360441, //
                          0.0141856890,  0.0175059853, -0.0126874063,
                          0.0098059619,  0.0160014514, 0.0146332787};
constexpr Mat3 rightHanded{0.0190960456, -0.0219760169, 0.0016068574, //
                           0.0227577809, 0.0184413958,  -0.0164936281,
                           0.0208018868, 0.0127477505,  0.0190232623};

TEST(Cell, MatrixHoldsTheWavelength) {
  Options options = cubic();
  options.cell.reset();
  options.lambda = 1.3;
  Inputs inputs;
  inputs.mosflmMatrix = rightHanded;
  CompleteExperiment complete = completeC(options, inputs);
  EXPECT_EQ(complete.experiment.variant.cellSource, CellSource::Matrix);
  EXPECT_NEAR(complete.experiment.crystal.reciprocalMatrix[5], -0.0164936281e10 / 1.3, 1e-3);
  EXPECT_NEAR(complete.report.reciprocalCell.vectors[0][2], 0.0208018868 / 1.3, 1e-12);
}

TEST(Cell, LeftHandedMatrixHasANegativeVolume) {
  Options options = cubic();
  options.cell.reset();
  Inputs inputs;
  inputs.mosflmMatrix = leftHanded;
  Report report = completeC(options, inputs).report;
  EXPECT_NEAR(report.volume, -79549.7, 0.05);
  expectCell(report.cell, {43.0019, 37.0006, 52.1177, -95.0113, -81.9821, -104.002}, 5e-4);
  expectNear(report.cell.vectors[0], {-36.52816253, 15.52599627, report.cell.vectors[0][2]}, 5e-9);
}

TEST(Cell, MatrixWithCellTakesDirectionsFromOneAndLengthsFromTheOther) {
  Options options = cubic();
  options.cell = {{38, 44, 51, 90, 90, 90}};
  options.lambda = 1.3;
  Inputs inputs;
  inputs.mosflmMatrix = rightHanded;
  CompleteExperiment complete = completeC(options, inputs);
  EXPECT_EQ(complete.experiment.variant.cellSource, CellSource::CellAndMatrix);
  EXPECT_NEAR(complete.report.volume, 85272, 1e-6);
  expectCell(complete.report.cell, {38, 44, 51, 81.9821, 95.0113, 104.002}, 5e-4);
  expectCell(complete.report.reciprocalCell,
             {0.0260585, 0.0226404, 0.0190252, 96.9805, 86.8068, 76.8875}, 5e-5);
  expectNear(complete.report.cell.vectors[1],
             {-37.37601419, 15.88636869, complete.report.cell.vectors[1][2]}, 5e-9);
}

} // namespace
} // namespace nanobragg
