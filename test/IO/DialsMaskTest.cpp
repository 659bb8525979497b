#include "lib/Formats/DialsMask.h"

#include "test/IO/TemporaryDirectory.h"

namespace nanobragg::io {
namespace {

using testing::ElementsAre;

/// Python's pickle.dumps((mask,)) for flex.bool([1, 1, 1, 1, 1, 0]) on a grid of 2 x 3,
/// with the two lengths that depend on the number of pixels.
std::string pickled(char rows, char columns, std::string_view pixels) {
  using namespace std::string_literals;
  return "\x80\x04\x95"
         "a\0\0\0\0\0\0\0\x8c\x1cscitbx_array_family_flex_ext\x94\x8c\x04"
         "bool\x94\x93\x94)R\x94"
         "h\0\x8c\x04grid\x94\x93\x94K\0K\0\x86\x94K"s +
         rows + "K" + columns + "\x86\x94\x88\x87\x94R\x94K" + rows + "K" + columns +
         "\x86\x94"
         "bC"s +
         char(2 + pixels.size()) + "\x02"s + char(pixels.size()) + std::string(pixels) +
         "\x94\x86\x94"
         "b\x85\x94."s;
}

struct DialsMaskTest : testing::Test {
  TemporaryDirectory directory;
  std::vector<DialsMaskPanel> read(const std::string &bytes) {
    return readDialsMask(directory.add("a.mask", bytes));
  }
};

TEST_F(DialsMaskTest, ReadsWhatDialsWrites) {
  const auto panels = read(pickled(2, 3, "111110"));
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(panels[0].slow, 2);
  EXPECT_EQ(panels[0].fast, 3);
  EXPECT_THAT(panels[0].pixels, ElementsAre(1, 1, 1, 1, 1, 0));
}

TEST_F(DialsMaskTest, RefusesWhatIsNone) {
  const std::string good = pickled(2, 3, "111110");
  expectFileError([&] { read(""); }, "ends within an instruction");
  expectFileError([&] { read(good.substr(0, good.size() - 3)); }, "ends within an instruction");
  expectFileError([&] { read(pickled(2, 4, "111110")); }, "not an array of true and false");
  expectFileError([&] { read(pickled(2, 3, "111x10")); }, "not of true and false");
  expectFileError([&] { read("\x80\x04."); }, "has no array");
  expectFileError(
      [&] {
        read("\x80\x04"
             "cos\nsystem\n.");
      },
      "instruction of Python pickles");
}

} // namespace
} // namespace nanobragg::io
