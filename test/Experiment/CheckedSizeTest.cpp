#include "lib/Experiment/CheckedSize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

using namespace nanobragg;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(CheckedSize, Products) {
  EXPECT_EQ(tryProduct({}), 1);
  EXPECT_EQ(tryProduct({3, 5, 7}), 105);
  EXPECT_EQ(tryProduct({most, 1}), most);
  EXPECT_EQ(tryProduct({0, 7}), 0);
}

TEST(CheckedSize, WhatDoesNotFit) {
  EXPECT_EQ(tryProduct({std::int64_t(1) << 32, std::int64_t(1) << 32}), std::nullopt);
  EXPECT_EQ(tryProduct({4503599627370497, 4096}), std::nullopt);
  EXPECT_EQ(tryProduct({most, 2}), std::nullopt);
  EXPECT_EQ(tryProduct({-1, -1}), std::nullopt);
  // Sizes that are multiplied one after another: a zero must not let the others pass.
  EXPECT_EQ(tryProduct({0, most, 2}), std::nullopt);
  EXPECT_EQ(tryProduct({most, 2, 0}), std::nullopt);
}

TEST(CheckedSize, NamesTheSizes) {
  EXPECT_THAT([] { productOf({std::int64_t(1) << 32, std::int64_t(1) << 32}, "an image"); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("an image of 4294967296 x 4294967296 cannot be counted")));
}

} // namespace
