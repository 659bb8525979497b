// A compiled simulator is a function of its numbers: evaluated again with one of them changed it
// gives the derivative, and nothing is compiled or left changed on the way.
#include "nanobragg/nanobragg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int pixels = 24;
constexpr std::size_t size = pixels * pixels;

class FiniteDifference : public testing::Test {
protected:
  void SetUp() override {
    const char *flags[] = {"-cell",       "70",        "80", "90",         "90", "100",
                           "90",          "-N",        "3",  "-default_F", "10", "-lambda",
                           "1",           "-distance", "50", "-detpixels", "24", "-pixel",
                           "1",           "-misset",   "5",  "6",          "7",  "-gauss_xtal",
                           "-oversample", "1"};
    ASSERT_EQ(nb_simulator_from_flags(std::size(flags), flags, &s), NB_OK) << nb_last_error();
  }
  void TearDown() override { nb_simulator_free(s); }

  std::vector<float> render() {
    std::vector<float> image(size);
    EXPECT_EQ(nb_run(s, nullptr, image.data(), size * sizeof(float)), NB_OK) << nb_last_error();
    return image;
  }

  std::vector<float> renderWith(const char *name, double value) {
    double kept = 0;
    EXPECT_EQ(nb_get_f64(s, name, &kept), NB_OK);
    EXPECT_EQ(nb_set_f64(s, name, value), NB_OK);
    auto image = render();
    EXPECT_EQ(nb_set_f64(s, name, kept), NB_OK);
    return image;
  }

  /// Central difference of the image's sum over a relative step.
  double derivative(const char *name, double relativeStep) {
    double value = 0;
    EXPECT_EQ(nb_get_f64(s, name, &value), NB_OK);
    const double step = value * relativeStep;
    const auto sum = [](const std::vector<float> &image) {
      double total = 0;
      for (float pixel : image)
        total += pixel;
      return total;
    };
    return (sum(renderWith(name, value + step)) - sum(renderWith(name, value - step))) / (2 * step);
  }

  nb_simulator *s = nullptr;
};

TEST_F(FiniteDifference, OfWhatTheImageIsProportionalTo) {
  double fluence = 0, factor = 0, total = 0;
  ASSERT_EQ(nb_get_f64(s, "fluence", &fluence), NB_OK);
  ASSERT_EQ(nb_get_f64(s, "default_F", &factor), NB_OK);
  for (float pixel : render())
    total += pixel;
  ASSERT_GT(total, 0);
  EXPECT_NEAR(derivative("fluence", 1e-2) * fluence / total, 1, 1e-4);
  EXPECT_NEAR(derivative("default_F", 1e-2) * factor / total, 2, 1e-4);
}

TEST_F(FiniteDifference, ConvergesWithTheStep) {
  for (const char *name : {"cell_a", "misset_y", "wavelength", "distance"}) {
    const double coarse = derivative(name, 2e-3), fine = derivative(name, 1e-3);
    EXPECT_NE(fine, 0) << name;
    EXPECT_NEAR(coarse, fine, 0.1 * std::abs(fine)) << name;
  }
}

TEST_F(FiniteDifference, LeavesNothingChangedAndCompilesNothing) {
  nb_counters before = {}, after = {};
  nb_get_counters(&before);
  const auto first = render();
  const nb_kernel_descriptor *kernel = nb_simulator_kernel(s);
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    double value = 0;
    if (kernel->parameters[i].kind != NB_PARAMETER_F64)
      continue;
    const char *name = kernel->parameters[i].name;
    ASSERT_EQ(nb_get_f64(s, name, &value), NB_OK) << name;
    renderWith(name, value * 1.001);
    EXPECT_EQ(render(), first) << name;
  }
  nb_get_counters(&after);
  EXPECT_EQ(after.compiles, before.compiles);
}

TEST_F(FiniteDifference, InputsOfTheCallerAreNeitherKeptNorChanged) {
  const auto first = render();
  double axis[3] = {0, 0, 1}, weight = 1;
  ASSERT_EQ(nb_set_table_vec3(s, "mosaic_axis", axis, 1), NB_OK);
  ASSERT_EQ(nb_set_table_f64(s, "source_weight", &weight, 1), NB_OK);
  weight = -5;
  axis[0] = 7;
  EXPECT_EQ(render(), first);
  EXPECT_EQ(axis[0], 7);
  EXPECT_EQ(weight, -5);
}

} // namespace
