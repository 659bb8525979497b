#include "lib/Quantities/ClosestWord.h"
#include "lib/CommandLine/Flag.h"

#include <gtest/gtest.h>

using namespace nanobragg;

namespace {

TEST(ClosestWord, CountsEdits) {
  EXPECT_EQ(editDistance("-hkl", "-hkl"), 0u);
  EXPECT_EQ(editDistance("-hlk", "-hkl"), 1u) << "a swap";
  EXPECT_EQ(editDistance("-hk", "-hkl"), 1u);
  EXPECT_EQ(editDistance("-default_f", "--default_F"), 0u) << "case and dashes";
  EXPECT_EQ(editDistance("", "-abc"), 3u);
}

TEST(ClosestWord, FindsTheFlagThatWasMeant) {
  const std::vector<std::string_view> all = allSpellings();
  EXPECT_EQ(closestWord("-distnace", all), "-distance");
  EXPECT_EQ(closestWord("-dispstep", all), "-dispsteps");
  EXPECT_EQ(closestWord("-detsize_x", all), "-detsize_f");
  EXPECT_EQ(closestWord("-threads", all), "--threads");
  EXPECT_EQ(closestWord("-defaultF", all), "-default_F");
  EXPECT_EQ(closestWord("-detector_distance", all), "-distance");
}

} // namespace
