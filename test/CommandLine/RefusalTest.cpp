#include "lib/CommandLine/Flag.h"
#include "test/CommandLine/Support.h"

using namespace nanobragg;
using testing::AllOf;
using testing::HasSubstr;

namespace {

TEST(Refusal, FlagsOfTheCProgramWithTwoDashes) {
  EXPECT_THAT(refusal("--wavelength 0.97"),
              HasSubstr("unknown flag '--wavelength'; write '-wavelength'"));
  EXPECT_THAT(refusal("--wavelength=0.97"), HasSubstr("write '-wavelength 0.97'"));
}

TEST(Refusal, UnknownFlagNamesTheClosest) {
  EXPECT_THAT(refusal("-distnace 5"), AllOf(HasSubstr("'-distnace'"), HasSubstr("'-distance'")));
  EXPECT_THAT(refusal("--thread=3"), AllOf(HasSubstr("'--thread=3'"), HasSubstr("'--threads'")));
  EXPECT_THAT(refusal("-threads 3"), HasSubstr("'--threads'"));
}

TEST(Refusal, NoSuffixesButTheDocumentedOnes) {
  for (const char *line :
       {"-hklfile a", "-detector_thickness 5", "-NN 5", "-cells 40", "-hdiv 3", "-vdiv 3",
        "-dispstep 3", "-detector_twotheta 4", "-detsize_x 5", "--distance 5", "-oversample_all"})
    EXPECT_THAT(refusal(line), HasSubstr("unknown flag")) << line;
}

TEST(Refusal, OneDashTakesNoEqualsSign) {
  EXPECT_THAT(refusal("-distance=80"), HasSubstr("write '-distance 80'"));
}

TEST(Refusal, EveryFlagWithValuesMissesThem) {
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags) {
      if (flag.minimumValues() == 0)
        continue;
      const std::string name(flag.name());
      EXPECT_THAT(refusal(name), AllOf(HasSubstr(name + " needs"), HasSubstr("none is given")))
          << name;
      EXPECT_THAT(refusal(name + " -noprogress"), HasSubstr(name + " needs")) << name;
    }
}

TEST(Refusal, AFlagOfOtherLettersHasNoClosestOne) {
  EXPECT_THAT(refusal("-o out.img"),
              AllOf(HasSubstr("unknown flag '-o'"), Not(HasSubstr("closest"))));
  EXPECT_THAT(refusal("-lamda 1"), HasSubstr("the closest is '-lambda'"));
}

TEST(Refusal, AWordOfTheHelpLeadsThere) {
  for (const char *word : {"mtz", "pdb", "resolution"})
    EXPECT_THAT(refusal("-" + std::string(word) + " 3"),
                HasSubstr("nb-sim -help " + std::string(word) + " lists the flags about it"));
  EXPECT_THAT(refusal("-xqz 3"), Not(HasSubstr("-help")));
}

TEST(Refusal, TooFewOfSeveralValues) {
  EXPECT_THAT(refusal("-roi 1 2 -noprogress"),
              AllOf(HasSubstr("-roi needs 4 values"), HasSubstr("only 2 are given")));
  EXPECT_THAT(refusal("-misset 10 20"), HasSubstr("-misset needs 3 values"));
  EXPECT_THAT(refusal("-beam_vector 1"), HasSubstr("only 1 is given"));
}

TEST(Refusal, EveryNumberMustBeOne) {
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags) {
      const std::string name(flag.name()), values(flag.values);
      const bool words = values.find("FILE") != values.npos || values.find('|') != values.npos ||
                         values.find(',') != values.npos || values == "DIR" || values == "f64" ||
                         values == "PATTERN" || values == "STAGE" || values == "PARAMETERS" ||
                         values == "LOSS" || values == "NAME" || values == "TEXT" ||
                         values == "I/N";
      if (flag.minimumValues() == 0 || words)
        continue;
      for (const char *bad : {"12x", "abc", "1,5", "nan"}) {
        std::string line = name;
        for (std::size_t i = 0; i < flag.minimumValues(); ++i)
          line += std::string(" ") + bad;
        EXPECT_THAT(refusal(line),
                    AllOf(HasSubstr(name + ":"), HasSubstr(bad), HasSubstr("is not a number")))
            << line;
      }
    }
}

TEST(Refusal, WholeNumbers) {
  EXPECT_THAT(refusal("-N 5.9"), HasSubstr("-N: 5.9 is not a whole number"));
  EXPECT_EQ(parse("-phisteps 1e3").options.phiSteps, 1000);
  EXPECT_EQ(parse("-phisteps 4.0").options.phiSteps, 4);
}

TEST(Refusal, OutOfRangeSaysTheRange) {
  EXPECT_THAT(refusal("-distance 0"), HasSubstr("greater than 0"));
  EXPECT_THAT(refusal("-polar 1.5"), HasSubstr("from -1 to 1"));
  for (const char *line : {"-distance -5",
                           "-close_distance 0",
                           "-pixel 0",
                           "-lambda -1",
                           "-energy 0",
                           "-N -1",
                           "-mosaic -1",
                           "-mosaic_dom -2",
                           "-detpixels -5",
                           "-detpixels 1e9",
                           "-detsize -1",
                           "-dmin -2",
                           "-dispersion 200",
                           "-dispersion -1",
                           "-divergence -1",
                           "-beamsize 0",
                           "-exposure -1",
                           "-fluence -1",
                           "-flux -1",
                           "-water -1",
                           "-detector_abs -5",
                           "-detector_thick -1",
                           "-thicksteps -1",
                           "-oversample -1",
                           "-phisteps -1",
                           "-osc -1",
                           "-seed 1e10",
                           "-xtalsize -1",
                           "-fudge -1",
                           "-adc 1e6",
                           "-printout_pixel -1 0",
                           "--threads=-1",
                           "-cell 40 40 40 90 90 180",
                           "-cell 0"})
    EXPECT_THAT(refusal(line), testing::AnyOf(HasSubstr("out of range"), HasSubstr("must be")))
        << line;
}

TEST(Refusal, TracedPixelIsTwoOrThreeIndices) {
  for (const char *line :
       {"--trace-pixel 3", "--trace-pixel 3,", "--trace-pixel 1,2,3,4", "--trace-pixel 1.5,2"})
    EXPECT_THAT(refusal(line), HasSubstr("--trace-pixel: expected SLOW,FAST")) << line;
}

TEST(Refusal, RegionWithoutPixels) {
  EXPECT_THAT(refusal("-roi 9 3 0 5"), HasSubstr("-roi: the range 9 to 3 is empty"));
  EXPECT_EQ(refusal("-roi 9 -1 -1 5"), "");
}

TEST(Refusal, DirectionsAreNotZero) {
  EXPECT_THAT(refusal("-beam_vector 0 0 0"), HasSubstr("-beam_vector: 0 0 0 is not a direction"));
}

TEST(Refusal, PartsOfACell) {
  EXPECT_THAT(refusal("-cell 40 40 40 90 90"),
              HasSubstr("a cell has six numbers, and 5 are given"));
  EXPECT_THAT(refusal("-cell 40 50"), HasSubstr("a cell has six numbers, and 2 are given"));
}

TEST(Refusal, StrayWords) {
  EXPECT_THAT(refusal("a.hkl -N 5"), AllOf(HasSubstr("'a.hkl'"), HasSubstr("before the first")));
  EXPECT_THAT(refusal("-N 5 6"),
              AllOf(HasSubstr("stray word '6'"), HasSubstr("after -N, which takes one value")));
  EXPECT_THAT(refusal("-curved_det 1"), HasSubstr("stray word '1'"));
  EXPECT_THAT(refusal("-cell 40 40 -40"), HasSubstr("stray word '-40'"));
  EXPECT_THAT(refusal("-N 5 -6"), HasSubstr("stray word '-6'"));
}

TEST(Refusal, ChoicesAreListed) {
  EXPECT_THAT(refusal("--emit=ptx"), HasSubstr("nb, mlir, llvm, asm or stats"));
  EXPECT_THAT(refusal("--precision=f16"), HasSubstr("--precision: 'f16'"));
  EXPECT_THAT(refusal("-compat d"), HasSubstr("c, right or noisify"));
  EXPECT_THAT(refusal("-pivot middle"), HasSubstr("sample or beam"));
}

TEST(Refusal, LongFlags) {
  EXPECT_THAT(refusal("--quiet=yes"), HasSubstr("--quiet takes no value"));
  EXPECT_THAT(refusal("--png="), HasSubstr("--png= lacks its value"));
}

TEST(Refusal, HelpWorksOnAWrongLine) {
  EXPECT_TRUE(parse("-nonsense 5 -help").tool.help);
  EXPECT_TRUE(parse("-N five -h").tool.help);
}

} // namespace
