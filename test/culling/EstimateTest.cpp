// Whether leaving samples out pays is estimated with the bounds that the pass works with.
#include "lib/Culling/Estimate.h"

#include "lib/Culling/Bounds.h"
#include "lib/Runs/ExperimentOf.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

namespace nanobragg {
namespace {

/// A sharp detector's image of a crystal of so many cells along each axis.
Experiment crystalOf(int cells, const std::string &shape) {
  std::istringstream words("-cell 70 80 90 90 90 90 -default_F 10 -lambda 1 -distance 100 -pixel "
                           "0.1 -detpixels 1000 -oversample 1 -mosaic 0.3 -mosaic_dom 10 -N " +
                           std::to_string(cells) + " " + shape);
  return experimentOf({std::istream_iterator<std::string>(words), {}});
}

/// The fewest cells of a crystal of which samples are left out.
int fewestCells(Precision precision, ImageType pixels, const Derivative &derivative = {},
                CullSetting setting = CullSetting::exact()) {
  int cells = 1;
  while (cells < 1000 &&
         cullFor(setting, crystalOf(cells, "-gauss_xtal"), precision, pixels, derivative).isOff())
    ++cells;
  return cells;
}

TEST(Estimate, KnowsWhatIsComputed) {
  const int single = fewestCells(Precision::Mixed, ImageType::F32),
            toSingle = fewestCells(Precision::F64, ImageType::F32),
            toDouble = fewestCells(Precision::F64, ImageType::F64);
  // Spots are narrower the earlier exponentials end: those of f32 at 42 in place of 202 and 437.
  EXPECT_LT(1.5 * single, toSingle);
  EXPECT_LT(1.2 * toSingle, toDouble);
  EXPECT_LT(toDouble, 1000);
  const Derivative gradient{Derivative::Mode::VJP, {"cell_a"}};
  EXPECT_LT(toDouble, fewestCells(Precision::F64, ImageType::F64, gradient));
  EXPECT_EQ(single, fewestCells(Precision::Mixed, ImageType::F64, gradient));
  EXPECT_LT(fewestCells(Precision::F64, ImageType::F32, {}, CullSetting::below(1e-6)), single);
}

TEST(Estimate, LeavesOffWhatIsOff) {
  const Experiment large = crystalOf(500, "-gauss_xtal"), square = crystalOf(500, "-square_xtal");
  const auto chosen = [](std::optional<CullSetting> wanted, const Experiment &experiment) {
    return cullFor(wanted, experiment, Precision::F64, ImageType::F32);
  };
  EXPECT_EQ(chosen({}, large), CullSetting::exact());
  EXPECT_EQ(chosen(CullSetting::below(1e-9), large), CullSetting::below(1e-9));
  EXPECT_EQ(chosen(CullSetting::off(), large), CullSetting::off());
  EXPECT_EQ(chosen(CullSetting::exact(), square), CullSetting::off()) << "is nowhere zero";
  EXPECT_EQ(chosen(CullSetting::below(1e-6), square), CullSetting::below(1e-6));
  // There are 10 domains for each: lists have no numbers for 2^31 orientations.
  Experiment many = large;
  many.goniometer.phiSteps = 200'000'000;
  EXPECT_EQ(chosen(CullSetting::exact(), many), CullSetting::exact());
  many.goniometer.phiSteps = 220'000'000;
  EXPECT_EQ(chosen(CullSetting::exact(), many), CullSetting::off());
}

TEST(Bounds, OfExponentsAreThoseThatAreProved) {
  const CulledProgram exact{.setting = CullSetting::exact()};
  CulledProgram image = exact, gradient = exact;
  image.toSingle = true;
  gradient.derives = gradient.toSingle = true;
  EXPECT_NEAR(bounds::ofExponent(image, false), 202.4, 0.1);
  EXPECT_NEAR(bounds::ofExponent(exact, false), 436.7, 0.1);
  EXPECT_NEAR(bounds::ofExponent(gradient, false), 481.0, 0.1);
  EXPECT_EQ(bounds::ofExponent(gradient, true), 42);
}

TEST(CullSetting, TextAndBack) {
  for (const char *text : {"off", "exact", "1e-9", "1e-12", "0.25", "1.5e-7"}) {
    const auto setting = CullSetting::fromString(text);
    ASSERT_TRUE(setting) << text;
    EXPECT_EQ(setting->toString(), text);
  }
  for (const char *text : {"", "0", "1", "2", "-1", "1e-9x", " exact", "nan", "inf"})
    EXPECT_FALSE(CullSetting::fromString(text)) << text;
}

TEST(CullSetting, AKernelThatLeavesOutLessFits) {
  const auto off = CullSetting::off(), exact = CullSetting::exact(),
             some = CullSetting::below(1e-9), more = CullSetting::below(1e-6);
  for (const CullSetting &wanted : {off, exact, some, more}) {
    EXPECT_TRUE(off.keeps(wanted));
    EXPECT_TRUE(exact.keeps(wanted));
  }
  EXPECT_TRUE(some.keeps(more));
  EXPECT_TRUE(some.keeps(some));
  EXPECT_FALSE(more.keeps(some));
  EXPECT_FALSE(some.keeps(exact));
  EXPECT_FALSE(some.keeps(off));
}

} // namespace
} // namespace nanobragg
