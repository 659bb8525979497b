// Images and derivatives of kernels that leave samples out against those of kernels that compute
// all.
#include "lib/Culling/Estimate.h"
#include "nanobragg/Simulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {
namespace {

struct Case {
  const char *name;
  std::string flags;
  const char *setting;
  double tolerance; ///< for each number, relative to the largest of its parameter
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class CullDerivatives : public testing::TestWithParam<Case> {
protected:
  static Simulator simulator(const std::string &setting, const std::string &more = "") {
    std::istringstream words(
        "-cell 70 80 90 90 100 90 -N 80 -mosaic 0.3 -mosaic_dom 10 -lambda 1 -distance 100 "
        "-detpixels 64 -pixel 1.2 -default_F 100 -oversample 1 -misset 7 8 9 " +
        GetParam().flags + more + " --cull=" + setting);
    const std::vector<std::string> flags{std::istream_iterator<std::string>(words), {}};
    return Simulator::fromFlags(flags);
  }

  static void expectNear(const std::vector<Gradient> &some, const std::vector<Gradient> &all) {
    ASSERT_EQ(some.size(), all.size());
    double any = 0;
    for (std::size_t i = 0; i != all.size(); ++i) {
      double largest = 0;
      for (double value : all[i].values)
        largest = std::max(largest, std::fabs(value));
      any += largest;
      for (std::size_t j = 0; j != all[i].values.size(); ++j)
        EXPECT_NEAR(some[i].values[j], all[i].values[j], GetParam().tolerance * largest)
            << all[i].parameter;
    }
    EXPECT_GT(any, 0); // a tophat's spots are moved by no parameter
  }
};

/// In double precision, in which `exact` has far more that is not zero than in the files that are
/// written. With a tolerance each pixel lacks at most that part of what it would have with every
/// sample at the peak: with spots so wide (-fudge) that they have no end.
class CullImages : public CullDerivatives {};

TEST_P(CullImages, EveryPixel) {
  Simulator some = simulator(GetParam().setting), all = simulator("off");
  ASSERT_FALSE(cullFor(CullSetting::fromString(GetParam().setting), some.experiment(),
                       Precision::F64, ImageType::F64)
                   .isOff())
      << "nothing to test";
  const std::span<const double> a = some.value(), b = all.value();
  const bool exact = std::string_view(GetParam().setting) == "exact";
  const bool square = GetParam().flags.starts_with("-square");
  Simulator wide = simulator("off", square || exact ? "" : " -fudge 1e-12");
  const std::span<const double> peak = wide.value();
  const double tolerance = exact ? 0 : std::stod(GetParam().setting);
  for (std::size_t i = 0; i != a.size(); ++i) {
    if (exact)
      ASSERT_EQ(a[i], b[i]) << i;
    else if (!square)
      ASSERT_LE(std::fabs(a[i] - b[i]), tolerance * peak[i]) << i;
  }
}

const char *parameters = "cell,misset,wavelength,distance,mosaic_spread,ncells,default_F";

TEST_P(CullDerivatives, Reverse) {
  Simulator some = simulator(GetParam().setting), all = simulator("off");
  expectNear(some.gradient(parameters, Loss::sum()).gradient,
             all.gradient(parameters, Loss::sum()).gradient);
}

TEST_P(CullDerivatives, SecondOrder) {
  Simulator some = simulator(GetParam().setting), all = simulator("off");
  const std::vector<Direction> along = {
      {"cell_a", {1e-12}}, {"misset_x", {1e-3}}, {"default_F", {1}}};
  expectNear(some.hvp(parameters, along, Loss::sum()), all.hvp(parameters, along, Loss::sum()));
}

TEST_P(CullDerivatives, Forward) {
  Simulator some = simulator(GetParam().setting), all = simulator("off");
  const auto a = some.jacobian("cell,misset"), b = all.jacobian("cell,misset");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i != a.size(); ++i) {
    double largest = 0;
    for (double value : b[i].pixels)
      largest = std::max(largest, std::fabs(value));
    double farthest = 0;
    for (std::size_t pixel = 0; pixel != b[i].pixels.size(); ++pixel)
      farthest = std::max(farthest, std::fabs(a[i].pixels[pixel] - b[i].pixels[pixel]));
    EXPECT_LE(farthest, GetParam().tolerance * largest) << b[i].parameter;
  }
}

const Case cases[] = {
    {"gauss_exact", "-gauss_xtal -N 300 -pixel 0.3", "exact", 1e-10},
    {"gauss", "-gauss_xtal -phi 1 -osc 2 -phisteps 3", "1e-12", 1e-6},
    {"gauss_matrix", "-gauss_xtal -Ncells_def 10 -8 5", "1e-12", 1e-6},
    {"gauss_masked", "-gauss_xtal -roi 5 50 9 60 -oversample 2", "1e-12", 1e-6},
    {"gauss_sources", "-gauss_xtal -hdivrange 3 -hdivsteps 5", "1e-12", 1e-6},
    {"tophat", "-tophat_spots -N 20", "exact", 1e-10},
    {"square", "-square_xtal", "1e-7", 1e-2},
    {"square_sources", "-square_xtal -N 300 -hdivrange 1 -hdivsteps 3", "1e-9", 1e-2},
    {"curved", "-gauss_xtal -curved_det -detector_rotx 20", "1e-12", 1e-6},
    {"curved_exact",
     "-gauss_xtal -N 500 -curved_det -twotheta 15 -detector_thick 1000 -detector_thicksteps 3 "
     "-detector_abs 500",
     "exact", 1e-10},
    // Whole rows had other bits where the angle of a row was divided and that of lanes multiplied.
    {"curved_rows",
     "-gauss_xtal -cell 70 80 90 90 90 90 -misset 49.57 16.27 8.24 -N 50 -mosaic_dom 1 -curved_det "
     "-pixel 0.339 -distance 192.1 -detpixels 128",
     "exact", 1e-10},
    {"curved_square", "-square_xtal -curved_det -mosaic_dom 300", "1e-7", 1e-2}};
/// Only its image: what derivatives between its spots may miss is up to 2 pi N times the tolerance
/// (docs/culling-methods.md), and here that outweighs the spots.
const Case round = {"round", "-round_xtal -N 300 -pixel 0.3", "1e-6", 0};

constexpr auto nameOf = [](const auto &info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Shapes, CullDerivatives, testing::ValuesIn(cases), nameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, CullImages, testing::ValuesIn(cases), nameOf);
INSTANTIATE_TEST_SUITE_P(Round, CullImages, testing::Values(round), nameOf);

} // namespace
} // namespace nanobragg
