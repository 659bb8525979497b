#include "lib/Images/CbfFile.h"

#include "test/IO/TemporaryDirectory.h"

#include <algorithm>
#include <limits>

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
  expectFileError([&] { parseCbf("x.cbf", large); }, "correct its header");
  std::string other = good;
  other.replace(other.find("x-CBF_BYTE_OFFSET"), 17, "x-CBF_CANONICAL  ");
  expectFileError([&] { parseCbf("x.cbf", other); }, "fabio");
}

std::string bytesOf(std::string_view hexadecimal) {
  std::string bytes(32, '\0'); // four numbers that CBFlib writes before the pixels
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2)
    bytes += char(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// An image as CBFlib 0.9.6 (pycbf) packs it.
std::string packedFile(const std::string &conversions, const std::string &type,
                       const std::string &bytes, int images = 1) {
  return "###CBF: VERSION 1.5\n_array_data.data\n;\n--CIF-BINARY-FORMAT-SECTION--\n"
         "Content-Type: application/octet-stream;\n     conversions=" +
         conversions + "\nX-Binary-Size: " + std::to_string(bytes.size()) +
         "\nX-Binary-Element-Type: \"" + type +
         "\"\nX-Binary-Size-Fastest-Dimension: 7\nX-Binary-Size-Second-Dimension: 5\n"
         "X-Binary-Size-Third-Dimension: " +
         std::to_string(images) + "\n\n\x0c\x1a\x04\xd5" + bytes;
}

std::vector<std::int32_t> packedPixels() {
  std::vector<std::int32_t> pixels(35);
  for (std::int32_t i = 0; i < 35; ++i)
    pixels[std::size_t(i)] = i < 28 ? i * i % 23 - 2 : 300;
  pixels[9] = 40000;
  pixels[17] = std::numeric_limits<std::int32_t>::min();
  pixels[24] = std::numeric_limits<std::int32_t>::max();
  return pixels;
}

constexpr std::string_view packedFirst =
    "930fa31cb90406e13a9c0000303cb6d2ed11e7639f63e7edd8ff7ffcffff1f92ea15e7faffff1fffffff9fc907"
    "72f14a4038802e0e0000120e0000f20d0000b20d0000003f0200";

TEST(CbfFile, ReadsPackedPixels) {
  const std::string type = "signed 32-bit integer";
  const auto read = [&](const std::string &conversions, std::string_view hexadecimal) {
    return parseCbf("x.cbf", packedFile(conversions, type, bytesOf(hexadecimal))).pixels;
  };
  EXPECT_EQ(read("\"x-CBF_PACKED\"", packedFirst), packedPixels());
  EXPECT_EQ(read("\"x-CBF_PACKED_V2\"",
                 "1b1f463972091084d7e1040040c36315ad93cec79e63f3edd8ff7ffcffff1f1ad52bceebffff7ffcf"
                 "fff7f269ee0012be1c2e9c5010040c2010040be010040b6010000708f00"),
            packedPixels());
  EXPECT_EQ(read("\"x-CBF_PACKED\"; \"flat\"",
                 "930fa31cb92cf472184e000000000000c663ffff000000001407a1c8c4fcffffff0f0000000000000"
                 "02000000000c9e5dd91cf03000000010000000c0000000200000048ea608f002100"),
            packedPixels());
}

TEST(CbfFile, ReadsPackedPixelsOfSixteenBits) {
  std::vector<std::int32_t> pixels = packedPixels();
  pixels[24] = 65535;
  for (std::int32_t &pixel : pixels)
    pixel = std::max(pixel, 0);
  EXPECT_EQ(parseCbf("x.cbf", packedFile("\"x-CBF_PACKED\"", "unsigned 16-bit integer",
                                         bytesOf("8124ca91d10ad0cb7538e131946e0f3d1fe31ca31d83ff5"
                                                 "f52bd6684f1ffffe403397925001c201c201c20fe06d806"
                                                 "801f0100")))
                .pixels,
            pixels);
}

/// Two images, whose pixels are packed by those of the one before, too, or not.
TEST(CbfFile, ReadsSeveralImagesOfASection) {
  std::vector<std::int32_t> both = packedPixels();
  for (std::size_t i = 0; i < 35; ++i)
    both.push_back(std::abs(std::int64_t(both[i])) > 30000 ? both[i]
                                                           : both[i] + std::int32_t(i % 3));
  const auto read = [&](const std::string &conversions, std::string_view rest) {
    const std::string bytes =
        bytesOf(std::string(packedFirst.substr(0, packedFirst.size() - 4)) + std::string(rest));
    return parseCbf("x.cbf", packedFile(conversions, "signed 32-bit integer", bytes, 2));
  };
  const CbfFile file = read("\"x-CBF_PACKED\"",
                            "024c409081661a1884cf220200c078eccaf34f8c8fad8e9db763ff3ff2ffff3f4809"
                            "d08c70fefffffff8ffffff9008c92c01e300e100e2003138c036000c0900");
  EXPECT_EQ(file.panels, 2);
  EXPECT_EQ(file.pixels, both);
  EXPECT_EQ(
      read("\"x-CBF_PACKED\"; \"uncorrelated_sections\"",
           "024c409081661a5884e7700200c0f0d88aef4b8c8f8d8e9db363fffff1ffff7f48cb539cefffff7ff8ff"
           "ff7f262f48c52c01e2007a380000483800000838000088360000000c0900")
          .pixels,
      both);
}

/// Programs that take images for text change bytes that look like ends of lines.
TEST(CbfFile, RefusesCopiesAsText) {
  std::vector<std::int32_t> pixels;
  for (std::int32_t i = 0; i < 900; ++i)
    pixels.push_back(i % 30 == 0 ? 10 : i % 30 == 1 ? 23 : 30); // steps of 10 and 13
  const std::string good = asText(cbfBytes(header(30, 30), pixels));
  const std::size_t data = good.find("\x0c\x1a\x04\xd5");
  ASSERT_NE(good.find('\r', data), good.npos);
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string copy;
    for (std::size_t at = 0; at < good.size();)
      if (at >= data && good.compare(at, from.size(), from) == 0)
        copy += to, at += from.size();
      else
        copy += good[at++];
    return copy;
  };
  EXPECT_EQ(parseCbf("x.cbf", good).pixels, pixels);
  for (const auto &[from, to] : {std::pair{"\n", "\r\n"}, std::pair{"\r", ""}})
    expectFileError([&] { parseCbf("x.cbf", changed(from, to)); }, "copied as text");
}

TEST(CbfFile, ReadsSectionsOneAfterTheOther) {
  const std::string one = asText(cbfBytes(header(2, 2), std::vector<std::int32_t>{1, 2, 3, 4}));
  const std::string other = asText(cbfBytes(header(2, 2), std::vector<std::int32_t>{5, 6, 7, 8}));
  const std::string second = other.substr(other.find("--CIF-BINARY"));
  const CbfFile both = parseCbf("x.cbf", one + second);
  EXPECT_EQ(both.panels, 2);
  EXPECT_EQ(both.pixels, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  expectFileError([&] { parseCbf("x.cbf", one + second.substr(0, 60)); }, "cut short");
  const std::string large = asText(cbfBytes(header(3, 1), std::vector<std::int32_t>{5, 6, 7}));
  expectFileError([&] { parseCbf("x.cbf", one + large); }, "different sizes");
}

/// A megabyte became gigabytes.
TEST(CbfFile, SectionsDoNotShareTheirPixels) {
  const std::string one = asText(cbfBytes(header(2, 2), std::vector<std::int32_t>{1, 2, 3, 4}));
  const std::size_t section = one.find("--CIF-BINARY"), data = one.find("\x0c\x1a\x04\xd5");
  const std::string sectionHeader = one.substr(section, data - section);
  expectFileError(
      [&] { parseCbf("x.cbf", one.substr(0, section) + sectionHeader + one.substr(section)); },
      "cut short");
  std::string large = one;
  large.replace(large.find("Fastest-Dimension: 2"), 20, "Fastest-Dimension: 999999999");
  expectFileError([&] { parseCbf("x.cbf", large); }, "its header is damaged");
}

TEST(CbfFile, ReadsPixelsThatAreNotCompressed) {
  std::string file = asText(cbfBytes(header(2, 1), std::vector<std::int32_t>{0, 0}));
  file.erase(file.find("conversions="), 32);
  file.replace(file.find("\x0c\x1a\x04\xd5") + 4, 2, std::string("\2\0\0\0\xff\xff\xff\xff", 8));
  file.replace(file.find("X-Binary-Size: 2"), 16, "X-Binary-Size: 8");
  EXPECT_EQ(parseCbf("x.cbf", file).pixels, (std::vector<std::int32_t>{2, -1}));
  file.resize(file.find("\x0c\x1a\x04\xd5") + 10);
  expectFileError([&] { parseCbf("x.cbf", file); }, "cut short");
}

TEST(CbfFile, RefusesPackedPixelsThatAreCutShort) {
  const std::string bytes = bytesOf(packedFirst);
  for (std::size_t size = 0; size < bytes.size() - 1; ++size)
    expectFileError(
        [&] {
          parseCbf("x.cbf",
                   packedFile("\"x-CBF_PACKED\"", "signed 32-bit integer", bytes.substr(0, size)));
        },
        "cut short");
  expectFileError(
      [&] { parseCbf("x.cbf", packedFile("\"x-CBF_PACKED\"", "signed 32-bit real IEEE", bytes)); },
      "not 16-bit or signed 32-bit integers");
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
