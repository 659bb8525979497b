#include "lib/Quantities/Printable.h"

#include "lib/Files/FileError.h"
#include "lib/Quantities/UsageError.h"

#include <gtest/gtest.h>

namespace nanobragg {
namespace {

TEST(Printable, KeepsWhatIsSeen) {
  for (const char *text : {"", "a.img: 12 \u00c5, \u03c6 = 3\u00b0", "\u7d50\u6676 \U0001f52c"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ReplacesWhatIsObeyed) {
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a?b?c?[31m?");
  EXPECT_EQ(printable("a\u202eb\u2066c\u200bd\ufeffe\u2028f\u0085g"), "a?b?c?d?e?f?g");
  EXPECT_EQ(printable("\U000e0041"), "?");
}

TEST(Printable, ReplacesWhatIsNoText) {
  EXPECT_EQ(printable("a\xff"
                      "b\xc3"),
            "a?b?");
  EXPECT_EQ(printable("\xc0\x8a"), "??") << "an end of line, written longer than it is";
  EXPECT_EQ(printable("\xed\xa0\x80"), "?") << "half of a pair";
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Printable, LeavesOutTheMiddleOfWhatIsLong) {
  const std::string text = "begin" + std::string(46000, 'x') + "end";
  const std::string shown = printable(text);
  EXPECT_LT(shown.size(), 2100u);
  EXPECT_TRUE(shown.starts_with("begin") && shown.ends_with("end"));
  std::string wide;
  for (int i = 0; i < 3000; ++i)
    wide += "\u00c5";
  EXPECT_EQ(printable(wide).find('?'), std::string::npos) << "no character is cut";
}

TEST(Printable, IsWhatErrorsAre) {
  EXPECT_STREQ(UsageError("a\x1b").what(), "a?");
  EXPECT_STREQ(io::FileError("a\u202e.img", 3, "is b\nad").what(), "a?.img:3: is b?ad");
}

} // namespace
} // namespace nanobragg
