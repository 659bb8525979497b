// Points where a formula has a kink, a pole in its text or a removable singularity.
#include "test/Dialect/derivatives/Formula.h"

#include "gtest/gtest.h"

#include <cmath>
#include <numbers>

using namespace mlir::nb::test;

namespace {
constexpr double pi = std::numbers::pi;
const std::string V = "!nb.vec3<f64>";

std::string function(const std::string &arguments, const std::string &body,
                     const std::string &result = "f64") {
  return "func.func @f(" + arguments + ") -> " + result + " { " + body + " return %r : " + result +
         " }";
}

void expectNear(const Numbers &actual, const Numbers &expected, double relative = 1e-12) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_LE(std::abs(actual[i] - expected[i]), relative * std::max(1.0, std::abs(expected[i])))
        << i << ": " << actual[i] << ", not " << expected[i];
}

TEST(Singular, LengthOfTheZeroVectorHasNoSlope) {
  Formula f(function("%a: " + V, "%r = nb.norm %a : " + V));
  ASSERT_TRUE(f.ready());
  expectNear(f.tangent({0, 0, 0}, {1, 2, 3}), {0});
  expectNear(f.adjoint({0, 0, 0}, {1}), {0, 0, 0});
}

TEST(Singular, DirectionOfTheZeroVectorIsTheVectorItself) {
  Formula f(function("%a: " + V, "%r = nb.normalize %a : " + V, V));
  ASSERT_TRUE(f.ready());
  expectNear(f.tangent({0, 0, 0}, {1, 2, 3}), {1, 2, 3});
  expectNear(f.adjoint({0, 0, 0}, {1, 2, 3}), {1, 2, 3});
  for (double x : f.secondTangent({0, 0, 0}, {1, 2, 3}, {3, 1, 2}))
    EXPECT_TRUE(std::isfinite(x));
}

TEST(Singular, KinksOfScalarFunctions) {
  Formula magnitude(function("%a: f64", "%r = math.absf %a : f64"));
  expectNear(magnitude.tangent({0}, {2}), {2});
  expectNear(magnitude.tangent({-0.0}, {2}), {-2});
  Formula root(function("%a: f64", "%r = math.sqrt %a : f64"));
  expectNear(root.tangent({0}, {2}), {0});
  Formula angle(function("%a: f64, %b: f64", "%r = math.atan2 %a, %b : f64"));
  expectNear(angle.tangent({0, 0}, {2, 1}), {0});
  Formula power(function("%a: f64, %b: f64", "%r = math.powf %a, %b : f64"));
  expectNear(power.tangent({0, 2}, {1, 1}), {0});
}

/// The amplitude sin(pi N x) / sin(pi x) is N (1 - pi^2 (N^2 - 1) x^2 / 6) near the peak.
TEST(Singular, IntensityOfABraggPeak) {
  Formula f(
      function("%a: " + V + ", %b: " + V + ", %c: f64",
               "%L = nb.lattice_factor square %a, %b : " + V + " %r = nb.intensity %c, %L : f64"));
  ASSERT_TRUE(f.ready());
  Numbers peak = {2, -3, 1, 5, 4, 3, 10};
  double intensity = 100.0 * 60 * 60;
  expectNear(f.value(peak), {intensity});
  expectNear(f.adjoint(peak, {1}),
             {0, 0, 0, 2 * intensity / 5, 2 * intensity / 4, 2 * intensity / 3, intensity / 5});
  Numbers along = {1, 0, 0, 0, 0, 0, 0};
  expectNear(f.secondTangent(peak, along, along), {-intensity * 2 * pi * pi * 24 / 3});
}

/// 3 (sin s / s - cos s) / s^2 is 1 - s^2 / 10 near the peak, s^2 = pi^2 fudge sum (delta N)^2.
TEST(Singular, PeakOfARoundCrystal) {
  Formula f(function("%a: " + V + ", %b: " + V + ", %c: f64",
                     "%r = nb.lattice_factor round fraction %a, %b fudge %c : " + V));
  ASSERT_TRUE(f.ready());
  Numbers peak = {0, 0, 0, 5, 4, 3, 1}, along = {1, 0, 0, 0, 0, 0, 0};
  double height = 60 * std::sqrt(pi / 6);
  expectNear(f.value(peak), {height});
  expectNear(f.adjoint(peak, {1}), {0, 0, 0, height / 5, height / 4, height / 3, 0});
  expectNear(f.secondTangent(peak, along, along), {-height * pi * pi * 25 / 5});
}

TEST(Singular, EdgeOfATophatDoesNotCount) {
  Formula f(function("%a: " + V + ", %b: " + V + ", %c: f64",
                     "%r = nb.lattice_factor tophat fraction %a, %b fudge %c : " + V));
  ASSERT_TRUE(f.ready());
  Numbers inside = {0.05, 0, 0, 5, 4, 3, 1}, outside = {0.4, 0, 0, 5, 4, 3, 1};
  expectNear(f.adjoint(inside, {1}), {0, 0, 0, 12, 15, 20, 0});
  expectNear(f.adjoint(outside, {1}), {0, 0, 0, 0, 0, 0, 0});
}

/// P = (1 + c2 - K (e2 - b2)) / 2; along the beam c = 1 and all slopes across it are 0.
TEST(Singular, PolarizationOfForwardScattering) {
  Formula f(function("%a: f64, %b: " + V + ", %c: " + V + ", %d: " + V,
                     "%r = nb.polarization %a, %b, %c, %d : " + V));
  ASSERT_TRUE(f.ready());
  Numbers forward = {0.9, 0, 0, 1, 1, 0, 0, 1, 0, 0};
  expectNear(f.value(forward), {1});
  expectNear(f.expansion(forward), {1});
  expectNear(f.tangent(forward, {0.1, 0, 0, 0, 0, 0, 0, 0, 1, 1}), {0});
  Numbers up = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, side = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  // B = axis x k is lab y. The steps leave the unit sphere, so that c stays 1: K and -K are left.
  expectNear(f.secondTangent(forward, side, side), {0.9});
  expectNear(f.secondTangent(forward, up, up), {-0.9});
  // An axis along the beam leaves no azimuth.
  Numbers degenerate = {0.9, 1, 0, 0, 1, 0, 0, 0.6, 0.8, 0};
  expectNear(f.expansion(degenerate), f.value(degenerate));
  for (double x : f.adjoint(degenerate, {1}))
    EXPECT_TRUE(std::isfinite(x));
}

/// Nothing passes a layer that is seen edge-on: the first absorbs all, however deep the others are.
TEST(Singular, CaptureEdgeOn) {
  Formula f(function("%a: " + V + ", %b: " + V + ", %c: f64, %d: f64, %e: f64",
                     "%r = nb.capture_fraction %a, %b, %c, %d, %e : " + V));
  ASSERT_TRUE(f.ready());
  for (double layer : {0.0, 1.0}) {
    for (double rho : {0.0, 1e-300, 1e-120, 1e-20, 1e-9}) {
      Numbers x = {1, rho, 0, 0, 1, 0, layer, 1e-5, 1e-4};
      expectNear(f.expansion(x), {layer == 0 ? 1.0 : 0.0});
      expectNear(f.value(x), {layer == 0 ? 1.0 : 0.0});
      for (double slope : f.adjoint(x, {1}))
        EXPECT_TRUE(std::isfinite(slope)) << layer << ' ' << rho;
      for (double slope : f.tangent(x, {0, 1, 1, 1, 0, 0, 0, 1e-6, 1e-5}))
        EXPECT_TRUE(std::isfinite(slope)) << layer << ' ' << rho;
    }
  }
}

TEST(Singular, RotationByNothing) {
  Formula f(
      function("%a: " + V + ", %b: f64", "%r = nb.axis_rotation %a, %b : " + V, "!nb.mat3<f64>"));
  ASSERT_TRUE(f.ready());
  expectNear(f.tangent({0, 0, 1, 0}, {1, 1, 1, 2}), {0, -2, 0, 2, 0, 0, 0, 0, 0});
  expectNear(f.tangent({0, 0, 0, 0}, {1, 1, 1, 2}), {0, 0, 0, 0, 0, 0, 0, 0, 0});
}
} // namespace
