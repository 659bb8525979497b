#include "lib/Inputs/PanelFile.h"

#include "test/IO/TemporaryDirectory.h"

using namespace nanobragg;
using io::expectFileError;

namespace {

TEST(PanelFile, ReadsPanelsInOrder) {
  io::TemporaryDirectory folder;
  const auto panels = readPanels(folder.add("p.json", R"([
    {"offset_mm": [0, -20, 0.5], "fast": [0, 0, 1], "slow": [0, -1, 0]},
    {"offset_mm": [0, 20, 0], "fast": [0, 0, 2], "slow": [0, -1, 0], "normal": [1, 0, 0]}])"));
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].offset, (Vec3{0, -20e-3, 0.5e-3}));
  EXPECT_EQ(panels[0].slowAxis, (Vec3{0, -1, 0}));
  EXPECT_FALSE(panels[0].normal);
  EXPECT_EQ(panels[1].fastAxis, (Vec3{0, 0, 2}));
  EXPECT_EQ(panels[1].normal, (Vec3{1, 0, 0}));
}

TEST(PanelFile, SizesOfPanels) {
  io::TemporaryDirectory folder;
  const auto panels = readPanels(folder.add("p.json", R"([
    {"offset_mm": [0, 0, 0], "fast": [0, 0, 1], "slow": [0, -1, 0], "pixels": [512, 128]},
    {"offset_mm": [0, 20, 0], "fast": [0, 0, 1], "slow": [0, -1, 0]}])"));
  EXPECT_EQ(panels[0].fastPixels, 512);
  EXPECT_EQ(panels[0].slowPixels, 128);
  EXPECT_FALSE(panels[1].fastPixels);
  for (const char *wrong : {"512", "[512]", "[512, 0]", "[512, 1.5]", "[512, \"a\"]", "[1, 1e300]"})
    expectFileError(
        [&] {
          readPanels(folder.add("w.json", R"([{"offset_mm": [0, 0, 0], "fast": [0, 0, 1],
                                "slow": [0, -1, 0], "pixels": )" +
                                              std::string(wrong) + "}]"));
        },
        "panel 0 \"pixels\" must be a list of two whole numbers");
}

TEST(PanelFile, SaysWhatIsWrongWhere) {
  io::TemporaryDirectory folder;
  const auto wrong = [&](std::string_view text, const std::string &part) {
    expectFileError([&] { readPanels(folder.add("p.json", text)); }, part);
  };
  wrong("[\n{\"offset_mm\": [0, 0 0]}]", "p.json:2: is not JSON");
  wrong("[]", "must be a list of panels");
  wrong("{}", "must be a list of panels");
  wrong("[3]", "panel 0 must be an object");
  wrong(R"([{"offset_mm": [0,0,0], "slow": [0,1,0]}])", "panel 0 lacks \"fast\"");
  wrong(R"([{"offset_mm": [0,0], "fast": [1,0,0], "slow": [0,1,0]}])",
        "\"offset_mm\" must be a list of three numbers");
  wrong(R"([{"offset_mm": [0,0,0], "fast": [0,0,0], "slow": [0,1,0]}])",
        "\"fast\" must not be zero");
  wrong(R"([{"offset_mm": [0,0,0], "fast": [1,0,0], "slow": [0,1,0], "gain": 1}])",
        "unknown key \"gain\"");
  expectFileError([&] { readPanels(folder.path("none.json")); }, "none.json");
}

} // namespace
