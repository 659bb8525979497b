#include "test/CommandLine/Support.h"

#include <cmath>

using namespace nanobragg;

namespace {

TEST(Order, LastOneWins) {
  EXPECT_EQ(parsed("-distance 80 -distance 25").options.distance, 25);
  EXPECT_EQ(parsed("-N 4 -Na 9").options.na, 9);
  EXPECT_EQ(parsed("-Na 9 -N 4").options.na, 4);
  EXPECT_EQ(parsed("-divergence 10 -hdivrange 3").options.vdivRange, 10);
  EXPECT_EQ(parsed("-round_xtal -gauss_xtal").options.shape, CrystalShape::Gauss);
  EXPECT_EQ(parsed("-interpolate -nointerpolate").options.interpolate, false);
}

TEST(Order, WavelengthAndEnergyReplaceEachOther) {
  const Options energyLast = parsed("-lambda 1 -energy 9876").options;
  EXPECT_FALSE(energyLast.lambda);
  EXPECT_EQ(energyLast.energy, 9876);
  const Options lambdaLast = parsed("-energy 9876 -wave 2").options;
  EXPECT_FALSE(lambdaLast.energy);
  EXPECT_EQ(lambdaLast.lambda, 2);
}

TEST(Order, RandomMissetAndGivenAngles) {
  EXPECT_TRUE(parsed("-misset 1 2 3 -misset random").options.missetRandom);
  EXPECT_FALSE(parsed("-misset random -misset 1 2 3").options.missetRandom);
}

TEST(Order, PolarizationSwitch) {
  EXPECT_FALSE(parsed("-nopolar -polar 0.5").options.noPolarization);
  EXPECT_TRUE(parsed("-polar 0.5 -nopolar").options.noPolarization);
}

TEST(Order, OutputsSwitchBackOn) {
  EXPECT_TRUE(parsed("-nonoise -noisefile n.img").outputs.noise);
  EXPECT_FALSE(parsed("-noisefile n.img -nonoise").outputs.noise);
  EXPECT_TRUE(parsed("-nopgm -pgmfile n.pgm").outputs.pgm);
  EXPECT_TRUE(parsed("-nopgm -pgmscale 2").outputs.pgm);
  EXPECT_FALSE(parsed("-pgmscale 2 -nopgm").outputs.pgm);
  EXPECT_FALSE(parsed("-nopgm -scale 2").outputs.pgm) << "-scale is not -pgmscale";
}

TEST(Order, ConventionSwitchesAndVectors) {
  EXPECT_EQ(parsed("-xds -polar_vector 0 1 0").options.convention, Convention::Custom);
  EXPECT_EQ(parsed("-polar_vector 0 1 0 -xds").options.convention, Convention::Xds);
}

TEST(Order, LastFlagThatSetsThePivotWins) {
  const std::string beam[] = {"-Xbeam 1", "-Ybeam 1", "-distance 80", "-mosflm",
                              "-denzo",   "-adxv",    "-dials",       "-pivot beam"};
  const std::string sample[] = {
      "-Xclose 1",   "-Yclose 1",          "-ORGX 1",      "-ORGY 1", "-xds",
      "-twotheta 5", "-close_distance 80", "-pivot sample"};
  for (const std::string &b : beam)
    for (const std::string &s : sample) {
      EXPECT_EQ(parsed(b + " " + s).options.pivot, Pivot::Sample) << b << " " << s;
      EXPECT_EQ(parsed(s + " " + b).options.pivot, Pivot::Beam) << s << " " << b;
    }
  EXPECT_FALSE(parsed("-fdet_vector 0 0 1 -detector_rotx 4").options.pivot);
}

TEST(Order, NoAbsorptionRemovesTheThicknessBeforeIt) {
  const Options after = parsed("-detector_thick 450 -detector_abs inf").options;
  EXPECT_TRUE(after.absorptionOffAfterThickness);
  EXPECT_TRUE(std::isinf(after.attenuationDepth.value_or(0)));
  EXPECT_FALSE(parsed("-detector_abs 0 -detector_thick 450").options.absorptionOffAfterThickness);
  EXPECT_FALSE(parsed("-detector_thick 450 -detector_abs 500").options.absorptionOffAfterThickness);
}

TEST(Order, DumpIsWrittenWithReflectionsAndReadWithout) {
  const CommandLine both = parsed("-dump my.bin -hkl a.hkl");
  EXPECT_EQ(both.outputs.dumpFile, "my.bin");
  EXPECT_FALSE(parsed("-hkl a.hkl").outputs.dumpFile) << "nothing is dumped unasked";
  EXPECT_FALSE(parsed("-dump my.bin").outputs.dumpFile);
}

TEST(Order, CompatCountsWhereverItStands) {
  EXPECT_EQ(parsed("-twotheta_axis 7 0 1 -compat c").options.twotheta, 7);
}

TEST(Prefixes, TwothetaAxisSetsTwothetaInCompat) {
  const CommandLine c = parsed("-compat c -twotheta 15 -twotheta_axis 0.5 0 1");
  EXPECT_EQ(c.options.twotheta, 0.5);
  EXPECT_EQ(c.options.pivot, Pivot::Sample);
  EXPECT_EQ(c.warnings.size(), 1u);
  EXPECT_EQ(parsed("-compat c -twotheta_axis 0.5 0 1 -twotheta 15").options.twotheta, 15);
}

TEST(Prefixes, MissetSeedSetsMissetInCompat) {
  const CommandLine c = parsed("-compat c -misset random -misset_seed 12345 -N 5");
  EXPECT_FALSE(c.options.missetRandom);
  EXPECT_EQ(c.options.misset, (Vec3{12345, 0, 5}));
  EXPECT_TRUE(parsed("-compat c -misset random -misset_seed 12345").options.missetRandom);
  EXPECT_TRUE(parsed("-compat c -misset_seed 12345 -misset random").options.missetRandom);
}

TEST(Prefixes, DefaultKeepsFlagsApartAndSaysSo) {
  const CommandLine line =
      parsed("-twotheta 15 -twotheta_axis 0 0 1 -misset random -misset_seed 5 -N 5");
  EXPECT_EQ(line.options.twotheta, 15);
  EXPECT_TRUE(line.options.missetRandom);
  EXPECT_THAT(line.notices, testing::ElementsAre("flag-prefixes"));
  EXPECT_TRUE(line.warnings.empty());
  EXPECT_TRUE(parsed("-twotheta_axis 0 0 1 -twotheta 15").notices.empty());
}

} // namespace
