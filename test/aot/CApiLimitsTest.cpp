// nanobragg.h with numbers that no experiment has: refused with a sentence that names them.
#include "nanobragg/nanobragg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
constexpr int pixels = 8;

class CApiLimits : public testing::Test {
protected:
  CApiLimits() {
    const char *flags[] = {"-cell",      "70",      "80",     "90",        "90",
                           "100",        "90",      "-N",     "4",         "-default_F",
                           "10",         "-lambda", "1",      "-distance", "50",
                           "-detpixels", "8",       "-pixel", "1"};
    EXPECT_EQ(nb_simulator_from_flags(int(std::size(flags)), flags, &s), NB_OK) << nb_last_error();
  }
  ~CApiLimits() override { nb_simulator_free(s); }

  nb_status run(int threads = 1) {
    const nb_run_options options = {threads, nullptr, nullptr};
    image.assign(pixels * pixels, -1);
    return nb_run(s, &options, image.data(), image.size() * sizeof(float));
  }

  nb_simulator *s = nullptr;
  std::vector<float> image;
};

TEST_F(CApiLimits, InfinitiesAreRefusedForEveryNumber) {
  const nb_kernel_descriptor *kernel = nb_simulator_kernel(s);
  int tried = 0;
  for (std::uint32_t i = 0; i != kernel->num_parameters; ++i) {
    const nb_kernel_parameter &p = kernel->parameters[i];
    if (p.kind != NB_PARAMETER_F64)
      continue;
    for (double x : {infinity, -infinity, std::nan("")}) {
      EXPECT_EQ(nb_set_f64(s, p.name, x), NB_BAD_ARGUMENT) << p.name << " " << x;
      EXPECT_THAT(nb_last_error(), HasSubstr("'" + std::string(p.name) + "'"));
      ++tried;
    }
  }
  EXPECT_GT(tried, 60);
  const double axis[] = {0, infinity, 0};
  EXPECT_EQ(nb_set_vec3(s, "spindle_axis", axis), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("at index 1"));
  EXPECT_EQ(run(), NB_OK) << nb_last_error();
}

TEST_F(CApiLimits, WhatMustBePositiveIs) {
  for (const char *name : {"cell_a", "cell_b", "cell_c", "wavelength", "distance", "pixel_size"})
    for (double x : {0.0, -1e-10}) {
      EXPECT_EQ(nb_set_f64(s, name, x), NB_BAD_ARGUMENT) << name << " " << x;
      EXPECT_THAT(nb_last_error(), HasSubstr(name));
    }
  EXPECT_EQ(nb_set_f64(s, "cell_beta", 0), NB_BAD_ARGUMENT);
  EXPECT_EQ(nb_set_f64(s, "ncells_a", -1), NB_BAD_ARGUMENT);
  const double zero[3] = {};
  EXPECT_EQ(nb_set_vec3(s, "beam_direction", zero), NB_BAD_ARGUMENT);
}

TEST_F(CApiLimits, AnglesOfNoCellAreRefusedByTheRun) {
  ASSERT_EQ(nb_set_f64(s, "cell_alpha", 0.1), NB_OK);
  EXPECT_EQ(run(), NB_BAD_ARGUMENT);
  EXPECT_THAT(nb_last_error(), HasSubstr("has a volume"));
}

TEST_F(CApiLimits, RegionsThatAreNoneAreRefusedByTheRun) {
  struct Region {
    const char *name;
    std::int64_t value;
  };
  for (const Region &region : {Region{"roi_fast_min", 7}, Region{"roi_slow_min", 7}})
    EXPECT_EQ(nb_set_index(s, region.name, region.value), NB_OK);
  EXPECT_EQ(run(), NB_OK) << nb_last_error();
  for (const Region &region :
       {Region{"roi_fast_max", 6}, Region{"roi_slow_max", 3}, Region{"roi_slow_max", most},
        Region{"roi_slow_min", most}, Region{"roi_fast_max", least}, Region{"roi_slow_max", least},
        Region{"roi_fast_min", least}, Region{"roi_slow_max", -1}}) {
    std::int64_t before = 0;
    ASSERT_EQ(nb_get_index(s, region.name, &before), NB_OK);
    ASSERT_EQ(nb_set_index(s, region.name, region.value), NB_OK);
    EXPECT_EQ(run(), NB_BAD_ARGUMENT) << region.name << " " << region.value;
    EXPECT_THAT(nb_last_error(), HasSubstr("roi_"));
    nb_set_index(s, region.name, before);
  }
}

TEST_F(CApiLimits, CountsThatAreNoneAreRefusedByTheRun) {
  for (const char *name : {"mosaic_domains", "phi_steps", "sources", "oversample", "fast_pixels",
                           "slow_pixels", "panel_count"})
    for (std::int64_t count : {std::int64_t(0), std::int64_t(-1), least, most}) {
      std::int64_t before = 0;
      ASSERT_EQ(nb_get_index(s, name, &before), NB_OK);
      ASSERT_EQ(nb_set_index(s, name, count), NB_OK);
      EXPECT_EQ(run(), NB_BAD_ARGUMENT) << name << " " << count;
      nb_set_index(s, name, before);
    }
}

TEST_F(CApiLimits, AbsurdNumbersOfThreadsAreRefused) {
  for (int threads : {10'000'000, std::numeric_limits<int>::max(), 4097}) {
    EXPECT_EQ(run(threads), NB_BAD_ARGUMENT) << threads;
    EXPECT_THAT(nb_last_error(), HasSubstr("4096"));
  }
  EXPECT_EQ(run(64), NB_OK) << nb_last_error();
  EXPECT_EQ(run(-1), NB_OK) << "as 0";
}

TEST_F(CApiLimits, NowhereToPutCounters) { nb_get_counters(nullptr); }

} // namespace
