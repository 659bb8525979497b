// Expected deviates were drawn with the C program's own generators.
#include "lib/Experiment/Ran1.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace nanobragg {
namespace {

struct UniformCase {
  std::int64_t seed;
  std::array<float, 6> expected;
};

class Ran1Uniform : public testing::TestWithParam<UniformCase> {};

TEST_P(Ran1Uniform, FirstSix) {
  Ran1 random;
  std::int64_t seed = GetParam().seed;
  for (float expected : GetParam().expected)
    EXPECT_EQ(random.uniform(seed), expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Ran1Uniform,
                         testing::Values(UniformCase{-12345678,
                                                     {.765989304f, .023453664f, .589726627f,
                                                      .535101593f, .982231438f, .693016112f}},
                                         UniformCase{-1,
                                                     {.415999353f, .091964893f, .75641048f,
                                                      .52970022f, .930436492f, .383502066f}},
                                         UniformCase{-42,
                                                     {.471973002f, .539009392f, .737019002f,
                                                      .18827413f, .993509591f, .530449033f}}));

TEST(Ran1, ZeroAndPositiveSeedsOfANewObject) {
  Ran1 a, b;
  std::int64_t zero = 0, minusOne = -1;
  EXPECT_EQ(a.uniform(zero), b.uniform(minusOne));
  Ran1 c;
  std::int64_t positive = 1234;
  EXPECT_EQ(c.uniform(positive), 0.415999353f) << "a first seed above zero counts as 1";
}

TEST(Ran1, NegativeSeedReloadsTheTableAndPositiveContinuesIt) {
  Ran1 random;
  std::int64_t mosaic = -12345678;
  for (int i = 0; i < 5; ++i)
    random.uniform(mosaic);
  std::int64_t reloading = -42;
  EXPECT_EQ(random.uniform(reloading), .471973002f);

  Ran1 shared, fresh;
  std::int64_t first = -12345678, continuing = 77, alone = -77;
  shared.uniform(first);
  EXPECT_NE(shared.uniform(continuing), fresh.uniform(alone));
}

TEST(Ran1, SeedsBeyondTheModulusStayInRange) {
  for (std::int64_t seed :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
        std::int64_t(-2147483647), std::int64_t(-5000000000)}) {
    Ran1 random;
    for (int i = 0; i < 200; ++i) {
      const float deviate = random.uniform(seed);
      ASSERT_GT(deviate, 0.0f);
      ASSERT_LT(deviate, 1.0f);
    }
  }
}

TEST(Ran1, Gaussian) {
  Ran1 random;
  std::int64_t seed = -1;
  for (float expected :
       {-0.836853981f, -0.172279969f, 0.187117606f, 1.61543977f, -0.17677407f, 0.653144717f})
    EXPECT_EQ(random.gaussian(seed), expected);
}

TEST(Ran1, PoissonInAllThreeRegimes) {
  const std::array<float, 10> means{0,     0.1f,     3.3f,     11.9f, 12.f,
                                    50.5f, 1000.25f, 999999.f, 2e6f,  3e7f};
  const std::array<float, 30> expected{0, 0, 3, 15, 10, 32, 1045, 999349,  2000908.5,  29997308,
                                       0, 0, 5, 11, 10, 55, 991,  999465,  1998198.25, 30003510,
                                       0, 0, 3, 9,  15, 50, 999,  1000343, 2002425.62, 30002864};
  Ran1 random;
  std::int64_t seed = -7;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(random.poisson(means[i % means.size()], seed), expected[i]) << "draw " << i;
  EXPECT_EQ(seed, 280805542);
}

TEST(Ran1, PoissonOfNothingAndOfNoNumber) {
  Ran1 random;
  std::int64_t seed = -7;
  EXPECT_TRUE(std::isnan(random.poisson(std::numeric_limits<float>::quiet_NaN(), seed)));
  EXPECT_EQ(random.poisson(0, seed), 0);
}

} // namespace
} // namespace nanobragg
