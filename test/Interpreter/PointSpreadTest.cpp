// Light spreads as the shares say, and its derivatives are ops of the same kind.
#include "test/Interpreter/Support.h"

#include "lib/Response/PointSpread.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::nb;
using namespace mlir::nb::test;
using nanobragg::PointSpread;
using nanobragg::PointSpreadFunction;

namespace {
constexpr int64_t slow = 9, fast = 11, radius = 3;
constexpr double pixelSize = 1e-4;

/// Photons (slow + 2)^2 + fast of two panels, spread.
std::string programOf(const std::string &op, const std::string &after = "") {
  return R"(
  func.func @f(%ns: index, %nf: index, %w: f64, %p: f64, %r: index, %f0: index, %f1: index,
               %s0: index, %s1: index) -> tensor<?x?x?xf64> {
    %two = arith.constant 2 : index
    %light = nb.image panel %q in %two, slow %s in %ns, fast %t in %nf : tensor<?x?x?xf64> {
      %a = arith.addi %s, %two : index
      %b = arith.muli %a, %a : index
      %c = arith.addi %b, %t : index
      %i = arith.index_cast %c : index to i64
      %x = arith.sitofp %i : i64 to f64
      nb.yield %x : f64
    }
    %spread = nb.point_spread )" +
         op + R"( %light, fwhm %w, pixel_size %p, radius %r roi(%f0, %f1, %s0, %s1) )" + after +
         R"( : tensor<?x?x?xf64>
    return %spread : tensor<?x?x?xf64>
  })";
}

std::vector<std::vector<double>> arguments(double width, double pixel = pixelSize) {
  return {{slow}, {fast}, {width * pixelSize}, {pixel}, {radius}, {1}, {fast - 1}, {0}, {slow - 2}};
}

std::vector<double> light() {
  std::vector<double> pixels;
  for (int64_t panel = 0; panel != 2; ++panel)
    for (int64_t s = 0; s != slow; ++s)
      for (int64_t f = 0; f != fast; ++f)
        pixels.push_back(double((s + 2) * (s + 2) + f));
  return pixels;
}

/// The simulator's spread of the light, in the region.
std::vector<double> ofRuntime(PointSpread kind, double width, int order) {
  std::vector<double> photons = light(), image(photons.size());
  PointSpreadFunction(kind, width, radius, order).apply(photons, slow, fast, image, 1);
  for (size_t i = 0; i != image.size(); ++i)
    if (int64_t(i) % fast == 0 || int64_t(i) / fast % slow == slow - 1)
      image[i] = 0;
  return image;
}

/// From a, in units of the largest number of b.
double distance(const std::vector<double> &a, const std::vector<double> &b) {
  double largest = 0, scale = 0;
  EXPECT_EQ(a.size(), b.size());
  for (size_t i = 0; i != std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::fabs(a[i] - b[i]));
    scale = std::max(scale, std::fabs(b[i]));
  }
  EXPECT_GT(scale, 0);
  return largest / scale;
}

TEST(PointSpreadOp, IsWhatTheRuntimeDoes) {
  for (int order : {0, 1, 2}) {
    const std::string attribute = "{order = " + std::to_string(order) + "}";
    EXPECT_LT(distance(Program(programOf("gauss", attribute)).values(arguments(1.7)),
                       ofRuntime(PointSpread::Gauss, 1.7, order)),
              1e-13);
    EXPECT_LT(distance(Program(programOf("fiber", attribute)).values(arguments(1.7)),
                       ofRuntime(PointSpread::Fiber, 1.7, order)),
              1e-13);
  }
}

TEST(PointSpreadOp, HasItsDerivativesByTheWidth) {
  constexpr double w = 1.7, h = 1e-4;
  for (const char *kind : {"gauss", "fiber"})
    for (int order : {0, 1}) {
      Program below(programOf(kind, "{order = " + std::to_string(order) + "}"));
      const std::vector<double> up = below.values(arguments(w + h)),
                                down = below.values(arguments(w - h));
      std::vector<double> slope(up.size());
      for (size_t i = 0; i != up.size(); ++i)
        slope[i] = (up[i] - down[i]) / (2 * h);
      Program formula(programOf(kind, "{order = " + std::to_string(order + 1) + "}"));
      EXPECT_LT(distance(slope, formula.values(arguments(w))), 1e-6) << kind << order;
    }
}

TEST(PointSpreadOp, TakesTheWidthInPixels) {
  Program program(programOf("fiber"));
  EXPECT_LT(distance(program.values(arguments(3, 2 * pixelSize)), program.values(arguments(1.5))),
            1e-15);
}

TEST(PointSpreadOp, IsTheSameForAnyNumberOfThreads) {
  InterpreterOptions one, four;
  one.threads = 1;
  four.threads = 4;
  Program program(programOf("fiber"));
  EXPECT_EQ(program.values(arguments(2), one), program.values(arguments(2), four));
}
} // namespace
