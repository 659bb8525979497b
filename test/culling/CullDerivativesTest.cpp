// Derivatives of kernels that leave samples out against those of kernels that compute all.
#include "nanobragg/Simulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace nanobragg {
namespace {

struct Case {
  const char *name;
  std::string flags;
  const char *setting;
  double tolerance; ///< of each number, relative to the largest of its parameter
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class CullDerivatives : public testing::TestWithParam<Case> {
protected:
  static Simulator simulator(const std::string &setting) {
    std::istringstream words(
        "-cell 70 80 90 90 100 90 -N 80 -mosaic 0.3 -mosaic_dom 10 -lambda 1 -distance 100 "
        "-detpixels 64 -pixel 1.2 -default_F 100 -oversample 1 -misset 7 8 9 " +
        GetParam().flags + " --cull=" + setting);
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

INSTANTIATE_TEST_SUITE_P(
    Shapes, CullDerivatives,
    testing::Values(Case{"gauss_exact", "-gauss_xtal", "exact", 1e-10},
                    Case{"gauss", "-gauss_xtal -phi 1 -osc 2 -phisteps 3", "1e-12", 1e-6},
                    Case{"gauss_matrix", "-gauss_xtal -Ncells_def 10 -8 5", "1e-12", 1e-6},
                    Case{"gauss_masked", "-gauss_xtal -roi 5 50 9 60 -oversample 2", "1e-12", 1e-6},
                    Case{"tophat", "-tophat_spots -N 20", "exact", 1e-10},
                    Case{"round", "-round_xtal", "1e-8", 1e-3},
                    Case{"square", "-square_xtal", "1e-7", 1e-2},
                    Case{"square_sources", "-square_xtal -hdivrange 1 -hdivsteps 3", "1e-8", 1e-2},
                    Case{"curved", "-gauss_xtal -curved_det -mosaic_dom 300", "1e-12", 1e-6}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace nanobragg
