#include "test/Interpreter/Support.h"

#include "gtest/gtest.h"

using namespace mlir::nb;
using namespace mlir::nb::test;

namespace {
/// -3..3, -2..4, 1..6 with values that a cubic interpolates exactly.
class Grid {
public:
  Grid() {
    for (int64_t h = -3; h <= 3; ++h)
      for (int64_t k = -2; k <= 4; ++k)
        for (int64_t l = 1; l <= 6; ++l)
          values.push_back(cubic(double(h), double(k), double(l)));
    grid = {-3, 3, -2, 4, 1, 6, values.data()};
  }
  static double cubic(double h, double k, double l) {
    return 100 + h * h * h - 2 * h * k + k * k * l - 3 * l + 0.5 * l * l * l;
  }
  const nb_hkl_grid &get() const { return grid; }

private:
  std::vector<double> values;
  nb_hkl_grid grid;
};

std::vector<double> lookUp(const std::string &op, const std::string &result,
                           std::vector<double> hkl, double byDefault = 7) {
  Program program("func.func @f(%F: !nb.hkl_grid<f64>, %q: !nb.vec3<f64>, %d: f64) -> " + result +
                  " { %r = " + op + " return %r : " + result + " }");
  Grid grid;
  auto results = program.runBound({{&grid.get(), {}}, {hkl.data(), {}}, {&byDefault, {}}},
                                  InterpreterOptions());
  return results.empty() ? std::vector<double>() : results[0].values;
}

std::vector<double> structureFactor(const std::string &how, const std::string &rest,
                                    std::vector<double> hkl) {
  return lookUp("nb.structure_factor " + how + " %F[%q] " + rest +
                    " : !nb.hkl_grid<f64>, !nb.vec3<f64>",
                "f64", std::move(hkl));
}

std::vector<double> inGrid(const std::string &how, std::vector<double> hkl) {
  return lookUp("nb.in_grid " + how + " %F[%q] : !nb.hkl_grid<f64>, !nb.vec3<f64>", "i1",
                std::move(hkl));
}

TEST(StructureFactor, NearestTakesTheNearestReflection) {
  EXPECT_EQ(structureFactor("nearest", "default %d", {0.4, -1.6, 3.5})[0], Grid::cubic(0, -2, 3));
  EXPECT_EQ(structureFactor("nearest", "default %d", {3.5, 4.5, 6.5})[0], Grid::cubic(3, 4, 6));
  EXPECT_EQ(structureFactor("nearest integral", "default %d", {3, 4, 6})[0], Grid::cubic(3, 4, 6));
}

TEST(StructureFactor, NearestIsTheDefaultOutside) {
  EXPECT_EQ(structureFactor("nearest", "default %d", {3.51, 4, 6})[0], 7);
  EXPECT_EQ(structureFactor("nearest", "default %d", {0, -2.6, 3})[0], 7);
  EXPECT_EQ(structureFactor("nearest", "default %d", {0, 0, 0.4})[0], 7);
  EXPECT_EQ(structureFactor("nearest", "default %d", {NAN, 0, 3})[0], 7);
  EXPECT_EQ(structureFactor("nearest", "default %d", {1e300, 0, 3})[0], 7);
}

TEST(StructureFactor, TricubicIsExactForCubics) {
  EXPECT_LE(ulps(structureFactor("tricubic", "default %d", {0.3, 1.7, 3.25}),
                 {Grid::cubic(0.3, 1.7, 3.25)}),
            8);
  EXPECT_LE(ulps(structureFactor("tricubic", "default %d", {-1, 0, 4}), {Grid::cubic(-1, 0, 4)}),
            8);
}

TEST(StructureFactor, TricubicFallsBackToNearestWithoutNeighbours) {
  EXPECT_EQ(structureFactor("tricubic", "default %d", {1.2, 1.7, 3})[0], Grid::cubic(1, 2, 3));
  EXPECT_EQ(structureFactor("tricubic", "default %d", {9, 1.7, 3})[0], 7);
}

TEST(StructureFactor, WithoutDefaultClampsIntoTheGrid) {
  EXPECT_EQ(structureFactor("nearest", "", {99, -99, 3.2})[0], Grid::cubic(3, -2, 3));
  EXPECT_LE(ulps(structureFactor("tricubic", "", {99, 1.5, 3.25}), {Grid::cubic(1, 1.5, 3.25)}), 8);
}

TEST(InGrid, HasTheBoundsOfTheLookup) {
  EXPECT_EQ(inGrid("nearest", {3.5, 4.5, 0.6})[0], 1);
  EXPECT_EQ(inGrid("nearest", {3.6, 4.5, 0.6})[0], 0);
  EXPECT_EQ(inGrid("nearest integral", {4, 4, 1})[0], 0);
  EXPECT_EQ(inGrid("tricubic", {1, 2, 4})[0], 1);
  EXPECT_EQ(inGrid("tricubic", {1.0001, 2, 4})[0], 0);
  EXPECT_EQ(inGrid("tricubic", {NAN, 2, 4})[0], 0);
}

TEST(StructureFactor, DerivativesAreThoseOfTheCubic) {
  double h = 0.25, k = 0.5, l = 3.75;
  auto derivative = [&](const std::string &order) {
    return structureFactor("tricubic", "order [" + order + "]", {h, k, l})[0];
  };
  EXPECT_NEAR(derivative("1, 0, 0"), 3 * h * h - 2 * k, 1e-12);
  EXPECT_NEAR(derivative("0, 1, 0"), -2 * h + 2 * k * l, 1e-12);
  EXPECT_NEAR(derivative("0, 0, 1"), k * k - 3 + 1.5 * l * l, 1e-12);
  EXPECT_NEAR(derivative("2, 0, 0"), 6 * h, 1e-12);
  EXPECT_NEAR(derivative("1, 1, 0"), -2, 1e-12);
  EXPECT_NEAR(derivative("0, 2, 1"), 2, 1e-12);
  EXPECT_NEAR(derivative("0, 0, 3"), 3, 1e-12);
  EXPECT_NEAR(derivative("1, 0, 1"), 0, 1e-12);
}

/// sum over the grid of what a value scatters times the grid = value times what is read there.
TEST(ScatterFactor, IsTheAdjointOfTheLookup) {
  for (std::string how : {"nearest", "tricubic", "tricubic order [1, 0, 0]",
                          "tricubic order [0, 2, 1]", "tricubic order [3, 1, 0]"}) {
    std::string interpolation = how.substr(0, how.find(' '));
    std::string order = how.substr(interpolation.size());
    Program program("func.func @f(%F: !nb.hkl_grid<f64>, %q: !nb.vec3<f64>, %v: f64, %n: index) -> "
                    "(!nb.hkl_grid<f64>, f64) { %s = nb.sum source %i in %n : !nb.hkl_grid<f64> { "
                    "%e = nb.scatter_factor " +
                    interpolation + " %v at [%q] like %F" + order +
                    " : !nb.hkl_grid<f64>, !nb.vec3<f64> nb.yield %e : !nb.hkl_grid<f64> } "
                    "%f = nb.structure_factor " +
                    interpolation + " %F[%q]" + order +
                    " : !nb.hkl_grid<f64>, !nb.vec3<f64> "
                    "return %s, %f : !nb.hkl_grid<f64>, f64 }");
    // Inside, at the edge, and clamped.
    for (std::vector<double> hkl :
         {std::vector{0.3, 1.2, 3.6}, {-1.0, 2.0, 4.0}, {9.0, -7.0, 0.1}}) {
      Grid grid;
      double v = 2;
      int64_t n = 3;
      auto results = program.runBound({{&grid.get(), {}}, {hkl.data(), {}}, {&v, {}}, {&n, {}}},
                                      InterpreterOptions());
      ASSERT_EQ(results.size(), 2u) << program.errors();
      EXPECT_EQ(llvm::ArrayRef(results[0].shape), (llvm::ArrayRef<int64_t>{7, 7, 6}));
      double sum = 0;
      for (size_t i = 0; i < results[0].values.size(); ++i)
        sum += results[0].values[i] * grid.get().data[i];
      EXPECT_NEAR(sum, 6 * results[1].values[0], 1e-10) << how;
    }
  }
}
} // namespace
