#include "lib/Choose/WholeNumber.h"

#include "test/Experiment/Support.h"
#include <algorithm>

namespace nanobragg {
namespace {

using Cells = std::array<double, 3>;

/// A crystal of round numbers and what the C program printed for it ("xtal: NaxNbxNc cells").
struct RoundCrystal {
  std::array<double, 6> cell;
  Vec3 misset, size; ///< degrees, mm
  Cells cProgram, right;
};

const RoundCrystal roundCrystals[] = {
    {{100, 100, 100, 90, 90, 120}, {}, {.001, .001, .001}, {100, 100, 100}, {100, 100, 100}},
    {{60, 60, 160, 90, 90, 120},
     {10, 20, 30},
     {.0024, .0024, .0024},
     {400, 400, 150},
     {400, 400, 150}},
    {{100, 10, 25, 80, 100, 75}, {0, 0, 45}, {.0005, .0005, .0005}, {50, 500, 201}, {50, 500, 200}},
    {{100, 200, 80, 90, 90, 90},
     {10, 20, 30},
     {.003, .002, .001},
     {300, 100, 125},
     {300, 100, 125}},
    {{250, 160, 20, 90, 90, 90}, {-40, 14, -16}, {.0002, .0002, .0002}, {8, 13, 100}, {8, 13, 100}},
    {{75, 160, 80, 80, 95, 110},
     {10, 20, 30},
     {.0012, .0012, .0012},
     {161, 75, 150},
     {160, 75, 150}},
    {{200, 50, 70, 90, 105, 90}, {74, -69, 68}, {.001, .001, .001}, {50, 200, 143}, {50, 200, 143}},
    {{50, 150, 75, 90, 90, 90}, {0, 0, 45}, {.006, .006, .006}, {1200, 401, 800}, {1200, 400, 800}},
    {{30, 10, 30, 90, 110, 90},
     {88, -18, 58},
     {.0001, .001, .0006},
     {34, 1001, 201},
     {34, 1000, 200}},
    {{70, 70, 40, 90, 90, 120}, {10, 20, 30}, {.0005, .0015, .003}, {72, 215, 751}, {72, 215, 750}},
};

Options optionsOf(const RoundCrystal &crystal) {
  Options options = cubic();
  options.cell = crystal.cell;
  options.misset = crystal.misset;
  options.na = options.nb = options.nc = std::nullopt;
  options.sampleX = crystal.size[0];
  options.sampleY = crystal.size[1];
  options.sampleZ = crystal.size[2];
  options.oversample = 1;
  return options;
}

TEST(ExactRatios, NumbersOfCellsAreTheCProgramsUnderC) {
  for (const RoundCrystal &crystal : roundCrystals)
    EXPECT_EQ(completeC(optionsOf(crystal)).experiment.crystal.ncells, crystal.cProgram)
        << crystal.cell[0] << ' ' << crystal.cell[1] << ' ' << crystal.cell[2];
}

TEST(ExactRatios, NumbersOfCellsAreRightAndAnnouncedWhereTheyDiffer) {
  for (const RoundCrystal &crystal : roundCrystals) {
    const CompleteExperiment complete = completeRight(optionsOf(crystal));
    EXPECT_EQ(complete.experiment.crystal.ncells, crystal.right)
        << crystal.cell[0] << ' ' << crystal.cell[1] << ' ' << crystal.cell[2];
    EXPECT_EQ(notes(complete, "exact-ratios"), crystal.right != crystal.cProgram);
  }
}

/// A camera of round numbers and what the C program printed ("auto-selected n-fold oversampling").
struct RoundCamera {
  std::array<double, 6> cell;
  Vec3 misset;
  std::int64_t cells;
  double distance, pixel, lambda;
  Convention convention;
  double rotY, rotZ;
  std::int64_t cProgram, right;
};

const RoundCamera roundCameras[] = {
    {{70, 80, 90, 90, 90, 90}, {1, 2, 3}, 100, 50, 0.5, 1, Convention::Mosflm, 0, 0, 271, 270},
    {{160, 90, 110, 90, 90, 90}, {10, 20, 30}, 30, 200, .05, .9, Convention::Mosflm, 0, 0, 4, 4},
    {{20, 20, 20, 90, 90, 90}, {10, 20, 30}, 25, 50, .4, .8, Convention::Xds, 0, 0, 16, 15},
    {{250, 250, 150, 90, 90, 120}, {}, 60, 250, .4, 2, Convention::Xds, 0, 0, 37, 36},
    {{200, 125, 40, 90, 90, 90}, {-8, -34, -90}, 20, 50, .1, .5, Convention::Mosflm, 0, 0, 48, 48},
    {{40, 50, 20, 90, 110, 90}, {-22, 40, -56}, 70, 250, .4, 1.2, Convention::Xds, 3, 2, 15, 14},
    {{25, 40, 30, 80, 100, 75}, {0, 0, 45}, 80, 300, .2, .8, Convention::Xds, 3, 2, 8, 8},
};

TEST(ExactRatios, AutomaticOversampling) {
  for (const RoundCamera &camera : roundCameras) {
    Options options = cubic();
    options.cell = camera.cell;
    options.misset = camera.misset;
    options.na = options.nb = options.nc = camera.cells;
    options.distance = camera.distance;
    options.pixelSize = camera.pixel;
    options.lambda = camera.lambda;
    options.convention = camera.convention;
    options.rotY = camera.rotY;
    options.rotZ = camera.rotZ;
    options.oversample.reset();
    EXPECT_EQ(completeC(options).experiment.detector.oversample, camera.cProgram);
    const CompleteExperiment right = completeRight(options);
    EXPECT_EQ(right.experiment.detector.oversample, camera.right);
    EXPECT_EQ(notes(right, "exact-ratios"), camera.right != camera.cProgram);
    options.oversample = 1; // the recommendation counts for nothing then
    EXPECT_FALSE(notes(completeRight(options), "exact-ratios"));
  }
}

TEST(ExactRatios, StepsThatFillTheirRange) {
  Options options = cubic();
  options.osc = 1.1;
  options.phiStep = 0.1;
  options.hdivRange = 2.1;
  options.hdivStep = 0.1;
  EXPECT_EQ(completeC(options).experiment.goniometer.phiSteps, 12);
  EXPECT_EQ(completeC(options).report.hdiv.steps, 22);
  const CompleteExperiment right = completeRight(options);
  EXPECT_EQ(right.experiment.goniometer.phiSteps, 11);
  EXPECT_EQ(right.report.hdiv.steps, 21);
  EXPECT_EQ(std::ranges::count(right.notices, std::string("exact-ratios")), 1);
}

TEST(ExactRatios, AFractionOfACellIsACell) {
  EXPECT_EQ(roundedUp(100.000000001, Rule::Right), 101);
  EXPECT_EQ(roundedUp(99.5, Rule::Right), 100);
  EXPECT_EQ(roundedUp(100 * (1 + 1e-15), Rule::Right), 100);
  EXPECT_EQ(roundedUp(100 * (1 + 1e-15), Rule::C), 101);
  EXPECT_EQ(roundedUp(100 * (1 - 1e-15), Rule::Right), 100);
  EXPECT_EQ(roundedUp(0, Rule::Right), 0);
}

} // namespace
} // namespace nanobragg
