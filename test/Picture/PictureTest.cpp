#include "lib/Picture/Annotations.h"
#include "lib/Picture/Glyphs.h"

#include "test/FlagUnits.h"
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace nanobragg {
namespace {

Options camera() {
  Options o;
  o.convention = Convention::Xds; // X is fast, Y is slow, Z along the beam
  o.closeDistance = 100;
  o.pixelSize = 0.1;
  o.fastPixels = 200;
  o.slowPixels = 100;
  o.lambda = 1;
  o.cell = {{40, 40, 40, 90, 90, 90}};
  o.defaultF = 1;
  return o;
}

CompleteExperiment experimentOf(const Options &o) {
  return chooseDefaults(fromFlagUnits(o), {}, Semantics());
}

PanelOptions panelAt(const Vec3 &offset, const Vec3 &fast, const Vec3 &slow, std::int64_t pixels) {
  PanelOptions p;
  p.offset = offset;
  p.fastAxis = fast;
  p.slowAxis = slow;
  p.fastPixels = p.slowPixels = pixels;
  return p;
}

/// 1, 2, 3, ... for each pixel of the frames, modulo 256.
std::vector<std::uint8_t> countingTones(const CompleteExperiment &c) {
  std::vector<std::uint8_t> tones(std::size_t(c.experiment.pixelCount()));
  for (std::size_t i = 0; i < tones.size(); ++i)
    tones[i] = std::uint8_t(i + 1);
  return tones;
}

TEST(LayoutTest, OnePanelIsTheImage) {
  const CompleteExperiment c = experimentOf(camera());
  const std::vector<std::uint8_t> tones = countingTones(c);
  const Picture picture = Layout(c).draw(tones);
  EXPECT_EQ(picture.width, 200);
  EXPECT_EQ(picture.height, 100);
  EXPECT_EQ(picture.tones, tones);
}

TEST(LayoutTest, PanelsStandAsInSpace) {
  Options o = camera();
  o.fastPixels = o.slowPixels = 10;
  // The second lies beside the first, 5 pixels away, and is turned by 90 degrees.
  o.panels = {panelAt({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 10),
              panelAt({2.5, 0, 0}, {0, 1, 0}, {-1, 0, 0}, 10)};
  const CompleteExperiment c = experimentOf(o);
  const std::vector<std::uint8_t> tones = countingTones(c);
  const Picture picture = Layout(c).draw(tones);
  ASSERT_EQ(picture.width, 25);
  ASSERT_EQ(picture.height, 10);
  const auto at = [&](int x, int y) { return picture.tones[std::size_t(y * 25 + x)]; };
  EXPECT_EQ(at(3, 4), tones[4 * 10 + 3]);
  EXPECT_EQ(at(24, 0), tones[100]) << "the second panel's first pixel";
  EXPECT_EQ(at(24, 3), tones[100 + 3]) << "along its fast axis";
  EXPECT_EQ(at(20, 3), tones[100 + 4 * 10 + 3]);
  EXPECT_EQ(at(12, 5), at(14, 9)) << "nothing stands there";
}

TEST(LayoutTest, NearPanelsHideFarOnes) {
  Options o = camera();
  o.fastPixels = o.slowPixels = 10;
  for (const bool swapped : {false, true}) {
    o.panels = {panelAt({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 10),
                panelAt({0.5, 0.5, -10}, {1, 0, 0}, {0, 1, 0}, 10)};
    if (swapped)
      std::swap(o.panels[0], o.panels[1]);
    const CompleteExperiment c = experimentOf(o);
    const Layout layout(c);
    EXPECT_EQ(layout.owners()[std::size_t(7 * 15 + 7)], swapped ? 0 : 1);
    EXPECT_EQ(layout.owners()[std::size_t(2 * 15 + 2)], swapped ? 1 : 0);
  }
}

TEST(LayoutTest, PanelsFarApartGiveACoarserPicture) {
  Options o = camera();
  o.fastPixels = o.slowPixels = 10;
  o.panels = {panelAt({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 10),
              panelAt({20000, 0, 0}, {1, 0, 0}, {0, 1, 0}, 10)};
  const Layout layout(experimentOf(o));
  EXPECT_LE(layout.width(), Layout::largest);
  EXPECT_GT(layout.pixelSize(), 1e-4);
}

TEST(AnnotationsTest, RingsStandAtTheirResolution) {
  Options o = camera();
  o.slowPixels = 200;
  o.orgX = o.orgY = 100;
  const CompleteExperiment c = experimentOf(o);
  const Layout layout(c);
  Picture picture{200, 200, std::vector<std::uint8_t>(40000, 0)};
  annotate(picture, layout, c, {12});
  const double radius = 1000 * std::tan(2 * std::asin(1.0 / 24)); // pixels
  int right = 99;
  while (right < 200 && picture.tones[std::size_t(103 * 200 + right)] == 0)
    ++right;
  EXPECT_NEAR(right - 99.5, radius, 2);
}

TEST(AnnotationsTest, TheBarIsAsLongAsItSays) {
  const CompleteExperiment c = experimentOf(camera());
  const Layout layout(c);
  Picture picture{200, 100, std::vector<std::uint8_t>(20000, 7)};
  annotate(picture, layout, c, {});
  // 20 mm wide: a bar of 2 mm, 20 pixels.
  int longest = 0;
  for (int y = 0; y < 100; ++y) {
    int run = 0;
    for (int x = 0; x < 200; ++x) {
      run = picture.tones[std::size_t(y * 200 + x)] == 150 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  EXPECT_EQ(longest, 20);
}

TEST(AnnotationsTest, RingsAreChosenWithinThePicture) {
  const CompleteExperiment c = experimentOf(camera());
  const std::vector<double> rings = chooseRings(Layout(c), c);
  ASSERT_GE(rings.size(), 2u);
  for (std::size_t i = 1; i < rings.size(); ++i)
    EXPECT_LT(rings[i], rings[i - 1]);
}

TEST(GlyphsTest, LettersDiffer) {
  std::set<std::vector<std::uint8_t>> seen;
  for (const char letter : std::string("0123456789.Am")) {
    Picture picture{7, 9, std::vector<std::uint8_t>(63, 9)};
    writeText(picture, 1, 1, std::string(1, letter), 1, 200, 0);
    EXPECT_TRUE(seen.insert(picture.tones).second) << letter;
  }
}

} // namespace
} // namespace nanobragg
