#include "lib/IO/CbfFile.h"

#include "test/IO/TemporaryDirectory.h"

namespace nanobragg::io {
namespace {

std::string asText(const std::vector<std::uint8_t> &bytes) { return {bytes.begin(), bytes.end()}; }

CbfHeader header(std::int64_t fast, std::int64_t slow) {
  CbfHeader h;
  h.fastPixels = fast;
  h.slowPixels = slow;
  h.pixelSize = 0.172;
  h.distance = 200;
  return h;
}

TEST(CbfFile, EveryStepSurvives) {
  const std::vector<std::int32_t> pixels = {0,     127,   0,       -128,       -1,     32767,
                                            0,     32768, 0,       2147483647, -1,     -2147483647,
                                            65535, 65535, 1 << 30, -2,         100000, 3};
  const CbfFile read = parseCbf("x.cbf", asText(cbfBytes(header(6, 3), pixels)));
  EXPECT_EQ(read.fastPixels, 6);
  EXPECT_EQ(read.slowPixels, 3);
  EXPECT_EQ(read.pixels, pixels);
}

TEST(CbfFile, SmallStepsTakeOneByte) {
  std::vector<std::uint8_t> bytes;
  compressByteOffset(std::vector<std::int32_t>{1, 3, 128, 129}, bytes);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{1, 2, 125, 1}));
  bytes.clear();
  compressByteOffset(std::vector<std::int32_t>{128, 40000}, bytes);
  EXPECT_EQ(bytes,
            (std::vector<std::uint8_t>{0x80, 0x80, 0x00, 0x80, 0x00, 0x80, 0xc0, 0x9b, 0, 0}));
}

TEST(CbfFile, RefusesDamage) {
  const std::string good = asText(cbfBytes(header(2, 2), std::vector<std::int32_t>{1, 2, 3, 4}));
  expectFileError([&] { parseCbf("x.cbf", good.substr(0, 400)); }, "without a binary section");
  std::string large = good;
  large.replace(large.find("Fastest-Dimension: 2"), 20, "Fastest-Dimension: 9");
  expectFileError([&] { parseCbf("x.cbf", large); }, "cut short");
  std::string packed = good;
  packed.replace(packed.find("x-CBF_BYTE_OFFSET"), 17, "x-CBF_PACKED     ");
  expectFileError([&] { parseCbf("x.cbf", packed); }, "fabio");
}

DialsExperiment experiment() {
  DialsExperiment e;
  DialsPanel p;
  p.origin = {-100, 90, -250};
  p.pixels = {2000, 1900};
  p.pixelSize = {0.1, 0.1};
  e.panels = {p};
  return e;
}

TEST(CbfHeader, SaysWhereTheBeamIs) {
  std::string why;
  const CbfHeader h = cbfHeaderOf(experiment(), why);
  EXPECT_EQ(why, "");
  EXPECT_DOUBLE_EQ(h.distance, 250);
  EXPECT_DOUBLE_EQ(h.beamFast, 1000);
  EXPECT_DOUBLE_EQ(h.beamSlow, 900);
}

TEST(CbfHeader, HasNoRoomForTiltsAndPanels) {
  const auto whyNot = [](auto change) {
    DialsExperiment e = experiment();
    change(e);
    std::string why;
    cbfHeaderOf(e, why);
    return why;
  };
  EXPECT_THAT(whyNot([](DialsExperiment &e) { e.panels[0].slow = {0, -0.8, 0.6}; }),
              testing::HasSubstr("right angle"));
  EXPECT_THAT(whyNot([](DialsExperiment &e) { e.panels.push_back(e.panels[0]); }),
              testing::HasSubstr("2 panels"));
  EXPECT_THAT(whyNot([](DialsExperiment &e) { e.panels[0].slow = {0, 1, 0}; }),
              testing::HasSubstr("mirrored"));
  EXPECT_THAT(whyNot([](DialsExperiment &e) {
                e.goniometer.emplace().axis = {0, 1, 0};
                e.scan.emplace().width = 0.1;
              }),
              testing::HasSubstr("spindle"));
}

} // namespace
} // namespace nanobragg::io
