#include "lib/CommandLine/Flag.h"
#include "test/CommandLine/Support.h"

using namespace nanobragg;
using testing::HasSubstr;

namespace {

TEST(Usage, BeginsAsScriptsExpect) { EXPECT_TRUE(usageText().starts_with("usage: nanoBragg")); }

TEST(Usage, ListsEverySpellingOfEveryFlag) {
  const std::string usage = usageText(), reference = flagReference();
  EXPECT_THAT(reference, testing::HasSubstr("binary structure factors: read without `-hkl`"));
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags)
      for (std::string_view spelling : flag.spellings) {
        EXPECT_THAT(usage, HasSubstr(std::string(spelling)));
        EXPECT_THAT(reference, HasSubstr("`" + std::string(spelling)));
      }
}

TEST(Usage, EveryFlagHasHelpAndThoseWithNumbersAUnitOrADefault) {
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags) {
      EXPECT_FALSE(flag.help.empty()) << flag.name();
      EXPECT_TRUE(flag.apply) << flag.name();
      if (flag.maximumValues() > 0) {
        EXPECT_FALSE(flag.fallback.empty()) << flag.name();
      }
    }
}

/// Each value of a choice is explained by its name.
TEST(Usage, EveryValueOfAChoiceIsDescribed) {
  for (const FlagGroup &group : flagGroups())
    for (const Flag &flag : group.flags) {
      std::istringstream values{std::string(flag.values)};
      if (flag.values.find('|') == flag.values.npos)
        continue;
      for (std::string value; std::getline(values, value, '|');)
        EXPECT_THAT(flag.meaning(), HasSubstr(value)) << flag.name();
    }
}

TEST(Usage, LinesFitATerminal) {
  std::istringstream text(usageText());
  for (std::string line; std::getline(text, line);)
    EXPECT_LE(line.size(), 100u) << line;
}

TEST(Usage, NoSpellingStandsForTwoFlags) {
  for (std::string_view spelling : allSpellings()) {
    int owners = 0;
    for (const FlagGroup &group : flagGroups())
      for (const Flag &flag : group.flags)
        owners += flag.matches(spelling);
    EXPECT_EQ(owners, 1) << spelling;
  }
}

} // namespace
