#include "lib/Images/PngFile.h"

#include "test/IO/TemporaryDirectory.h"

#include <png.h>

#include <cstring>
#include <limits>
#include <stdexcept>

namespace nanobragg::io {
namespace {

struct PngFileTest : testing::Test {
  TemporaryDirectory directory;

  /// Writes the tones and decodes the picture to RGB bytes.
  std::vector<std::uint8_t> roundTrip(std::int64_t fast, std::int64_t slow,
                                      const std::vector<std::uint8_t> &tones, Palette palette) {
    OutputFile out(directory.path("p.png"));
    writePng(out, fast, slow, tones, palette);
    out.commit();
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_file(&image, directory.path("p.png").c_str()), 0);
    EXPECT_EQ(image.width, fast);
    EXPECT_EQ(image.height, slow);
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> rgb(PNG_IMAGE_SIZE(image));
    EXPECT_NE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr), 0);
    return rgb;
  }
};

TEST_F(PngFileTest, GrayAndFilm) {
  const std::vector<std::uint8_t> tones{0, 10, 255, 100, 50, 25};
  const auto gray = roundTrip(3, 2, tones, Palette::Gray);
  const auto film = roundTrip(3, 2, tones, Palette::Film);
  for (std::size_t i = 0; i < tones.size(); ++i) {
    EXPECT_EQ(gray[3 * i], tones[i]);
    EXPECT_EQ(film[3 * i + 2], 255 - tones[i]);
  }
}

TEST_F(PngFileTest, CubehelixRisesEvenlyInBrightness) {
  std::vector<std::uint8_t> tones(256);
  for (std::size_t i = 0; i < 256; ++i)
    tones[i] = std::uint8_t(i);
  const auto rgb = roundTrip(256, 1, tones, Palette::Cubehelix);
  double previous = -1;
  for (std::size_t i = 0; i < 256; ++i) {
    const double brightness = 0.30 * rgb[3 * i] + 0.59 * rgb[3 * i + 1] + 0.11 * rgb[3 * i + 2];
    EXPECT_GT(brightness, previous - 0.7) << "tone " << i; // bytes are rounded
    EXPECT_NEAR(brightness, double(i), 12) << "tone " << i;
    previous = brightness;
  }
  EXPECT_EQ(rgb[0], 0);
  EXPECT_EQ(rgb[3 * 255 + 1], 255);
}

TEST_F(PngFileTest, RefusesTheWrongNumberOfTones) {
  OutputFile out(directory.path("p.png"));
  const std::vector<std::uint8_t> tones(5);
  EXPECT_THROW(writePng(out, 3, 2, tones, Palette::Gray), std::invalid_argument);
}

TEST_F(PngFileTest, LogTones) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> photons{-1, 0, nan, 0.1f, 1, 10, 100, 1000, 1e30f};
  EXPECT_EQ(logTones(photons, {1, 100}),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 128, 255, 255, 255}));
}

TEST_F(PngFileTest, SpotsStandOutFromTheirBackground) {
  std::vector<float> photons(100000, 50);
  for (std::size_t i = 0; i < 200; ++i)
    photons[i * 500] = 500;
  const auto tones = logTones(photons, chooseToneLimits(photons));
  EXPECT_EQ(tones[0], 255);
  EXPECT_LT(tones[1], 100);
}

TEST_F(PngFileTest, SpotsOfANoiselessImageShowOverFourDecades) {
  std::vector<float> photons(100000, 1e-12f);
  for (std::size_t i = 0; i < 200; ++i)
    photons[i * 500] = i % 2 ? 1e-3f : 1e-6f;
  const auto tones = logTones(photons, chooseToneLimits(photons));
  EXPECT_EQ(tones[500], 255);
  EXPECT_GT(tones[0], 50);
  EXPECT_EQ(tones[1], 0);
}

TEST_F(PngFileTest, LimitsOfImagesWithoutContrast) {
  for (const std::vector<float> &photons :
       {std::vector<float>{}, std::vector<float>(10, 0), std::vector<float>(10, 7),
        std::vector<float>(10, std::numeric_limits<float>::infinity())}) {
    const ToneLimits limits = chooseToneLimits(photons);
    EXPECT_GT(limits.low, 0);
    EXPECT_GT(limits.high, limits.low);
  }
}

} // namespace
} // namespace nanobragg::io
