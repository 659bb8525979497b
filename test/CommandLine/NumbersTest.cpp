#include "lib/CommandLine/Numbers.h"

#include <gtest/gtest.h>

using namespace nanobragg;

namespace {

TEST(Numbers, WholeWordOrNothing) {
  EXPECT_EQ(parseNumber("1e3"), 1000);
  EXPECT_EQ(parseNumber("+.5"), 0.5);
  EXPECT_EQ(parseNumber("-5."), -5);
  for (const char *word :
       {"", "-", "+", "+-5", "5mm", "1,5", " 5", "5 ", "0x10", "1e", "nan", "inf", "1e999", "--5"})
    EXPECT_FALSE(parseNumber(word)) << "'" << word << "'";
}

TEST(Numbers, LeadingNumberIsWhatTheCProgramReads) {
  EXPECT_EQ(leadingNumber("5mm"), 5);
  EXPECT_EQ(leadingNumber("-N"), 0);
}

TEST(Numbers, RangesSayWhatTheyAre) {
  EXPECT_EQ(Range::positive().text(), "greater than 0");
  EXPECT_EQ(Range::notNegative().text(), "at least 0");
  EXPECT_EQ(Range::between(-1, 1).text(), "from -1 to 1");
  EXPECT_EQ((Range{0, 200, true, false}).text(), "at least 0 and less than 200");
  EXPECT_EQ(Range::any().text(), "a finite number");
}

TEST(Numbers, RangesKnowTheirEnds) {
  EXPECT_FALSE(Range::positive().contains(0));
  EXPECT_TRUE(Range::notNegative().contains(0));
  EXPECT_TRUE(Range::between(-1, 1).contains(1));
  EXPECT_FALSE(Range::between(-1, 1).contains(1.0000001));
}

} // namespace
