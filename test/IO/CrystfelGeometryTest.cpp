#include "lib/Formats/CrystfelGeometry.h"

#include "test/IO/TemporaryDirectory.h"

namespace nanobragg::io {
namespace {

const std::string geometry =
    "photon_energy = 9500 eV ; of the beam\n"
    "clen = 100 mm\ncoffset = 0.001\nres = 5000\n"
    "p0/min_fs = 0\np0/max_fs = 99\np0/min_ss = 0\np0/max_ss = 49\n"
    "p0/corner_x = -50\np0/corner_y = 2\np0/fs = +0.8x -0.6y\np0/ss = 0.6x+.8y\n"
    "p1/min_fs = 0\np1/max_fs = 99\np1/min_ss = 50\np1/max_ss = 99\n"
    "p1/corner_x = -50\np1/corner_y = -55\np1/fs = x\np1/ss = y + 0.01z\n"
    "badB/panel = p1\nbadB/min_fs = 0\nbadB/max_fs = 4\nbadB/min_ss = 50\n"
    "badB/max_ss = 54\ngroup_all = p0,p1\n";

struct CrystfelGeometryTest : testing::Test {
  TemporaryDirectory directory;
  CrystfelGeometry read(const std::string &text, std::optional<double> distance = {}) {
    return readCrystfelGeometry(directory.add("a.geom", text), distance);
  }
  void expectRefusal(const std::string &from, const std::string &to, const std::string &part) {
    std::string text = geometry;
    text.replace(text.find(from), from.size(), to);
    expectFileError([&] { read(text); }, part);
  }
};

TEST_F(CrystfelGeometryTest, PlacesPanels) {
  const CrystfelGeometry g = read(geometry);
  ASSERT_EQ(g.panels.size(), 2u);
  const DialsPanel &a = g.panels[0], &b = g.panels[1];
  EXPECT_NEAR(a.origin[0], -10, 1e-12); // 50 pixels of 0.2 mm
  EXPECT_NEAR(a.origin[1], 0.4, 1e-12);
  EXPECT_NEAR(a.origin[2], 101, 1e-12);
  EXPECT_NEAR(a.fast[1], -0.6, 1e-12);
  EXPECT_NEAR(a.slow[0], 0.6, 1e-12);
  EXPECT_EQ(b.pixels, (std::array<std::int64_t, 2>{100, 50}));
  EXPECT_NEAR(b.slow[2], 0.01 / std::hypot(1, 0.01), 1e-12);
  EXPECT_NEAR(*g.wavelength, 12.398419843 / 9.5, 1e-6);
}

TEST_F(CrystfelGeometryTest, MasksBadRegions) {
  const CrystfelGeometry g = read(geometry);
  EXPECT_TRUE(g.panels[0].masked.empty());
  ASSERT_EQ(g.panels[1].masked.size(), 1u);
  EXPECT_EQ(g.panels[1].masked[0], (std::array<std::int64_t, 4>{0, 0, 5, 5}));
}

TEST_F(CrystfelGeometryTest, TakesTheDistanceThatStandsInAnImage) {
  std::string text = geometry;
  text.replace(text.find("100 mm"), 6, "/LCLS/detector_1");
  expectFileError([&] { read(text); }, "give -distance");
  EXPECT_NEAR(read(text, 200).panels[0].origin[2], 201, 1e-12);
}

TEST_F(CrystfelGeometryTest, ADistanceTakesThePlaceOfTheCameraLength) {
  const CrystfelGeometry g = read(geometry + "p1/clen = 0.12\n", 200);
  EXPECT_NEAR(g.panels[0].origin[2], 201, 1e-12);
  EXPECT_NEAR(g.panels[1].origin[2], 221, 1e-12) << "behind the first by as much as before";
}

TEST_F(CrystfelGeometryTest, MovesTheDetector) {
  const CrystfelGeometry g =
      read("detector_shift_x = 2 mm\ndetector_shift_y = -0.001\n" + geometry);
  EXPECT_NEAR(g.panels[0].origin[0], -10 + 2, 1e-12);
  EXPECT_NEAR(g.panels[1].origin[1], -11 - 1, 1e-12);
  EXPECT_THAT(read("detector_shift_x = /LCLS/shift\n" + geometry).warnings,
              testing::ElementsAre(testing::HasSubstr("detector_shift_x is in an image")));
}

TEST_F(CrystfelGeometryTest, MasksTheEdgesOfPanels) {
  const CrystfelGeometry g =
      read("mask_edge_pixels = 3\n" + geometry + "p1/mask_edge_pixels = 0\n");
  std::size_t masked = 0;
  for (std::int64_t f = 0; f < 100; ++f)
    for (std::int64_t s = 0; s < 50; ++s)
      masked += std::ranges::any_of(g.panels[0].masked, [&](const auto &m) {
        return f >= m[0] && s >= m[1] && f < m[2] && s < m[3];
      });
  EXPECT_EQ(masked, std::size_t(100 * 50 - 94 * 44));
  EXPECT_EQ(g.panels[1].masked.size(), 1u) << "the bad region alone";
}

TEST_F(CrystfelGeometryTest, TakesGainAndBandwidth) {
  const CrystfelGeometry g =
      read("adu_per_eV = 0.002\nbandwidth = 0.01\n" + geometry + "p1/adu_per_photon = 7\n");
  EXPECT_NEAR(g.panels[0].gain, 19, 1e-6);
  EXPECT_EQ(g.panels[1].gain, 7);
  EXPECT_EQ(g.bandwidth, 0.01);
  EXPECT_FALSE(read(geometry).bandwidth);
}

TEST_F(CrystfelGeometryTest, NamesEveryKeyThatItDoesNotUse) {
  EXPECT_THAT(read(geometry).warnings, testing::IsEmpty());
  // About the data of images.
  EXPECT_THAT(read("data = /d\ndim0 = %\npeak_list = /p\nflag_lessthan = 0\n" + geometry +
                   "p0/dim1 = ss\nrigid_group_q0 = p0\n")
                  .warnings,
              testing::IsEmpty());
  EXPECT_THAT(read("mask0_data = /mask\nelectron_voltage = 200 kV\n" + geometry + "p0/wobble = 1\n")
                  .warnings,
              testing::ElementsAre(testing::HasSubstr("the mask in /mask is not read"),
                                   testing::HasSubstr("not used: electron_voltage, wobble")));
}

TEST_F(CrystfelGeometryTest, SaysWhereTheWavelengthStands) {
  std::string text = geometry;
  text.replace(text.find("9500 eV"), 7, "/LCLS/energy");
  const CrystfelGeometry g = read(text);
  EXPECT_FALSE(g.wavelength);
  EXPECT_EQ(g.wavelengthInImage, "/LCLS/energy");
}

TEST_F(CrystfelGeometryTest, RefusalsNameTheLine) {
  expectRefusal("p0/ss = 0.6x+.8y", "p0/ss = 0.3x+.4y", "panel 'p0' has pixels with a side of 0.5");
  expectRefusal("coffset = 0.001", "coffset = 1 cm", "lengths are in m or in mm");
  expectRefusal("res = 5000", "res = many", "which is not a number");
  expectRefusal("p0/fs = +0.8x -0.6y", "p0/fs = 0.8", "a.geom:11: p0/fs");
  expectRefusal("p0/max_fs = 99", "p0/max_fs = -2", "no pixels");
  expectRefusal("p1/corner_x = -50\n", "", "lacks corner_x");
  expectRefusal("clen = 100 mm", "clen", "has no value");
}

} // namespace
} // namespace nanobragg::io
