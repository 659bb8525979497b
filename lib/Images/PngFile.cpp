#include "lib/Images/PngFile.h"

#include "lib/Experiment/CheckedSize.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace nanobragg::io {
namespace {

/// Green's cubehelix (Bull. Astr. Soc. India 39, 289, 2011) with its default start, rotations,
/// hue and gamma.
std::array<png_color, 256> cubehelix() {
  std::array<png_color, 256> colors{};
  constexpr double start = 0.5, rotations = -1.5, hue = 1.0;
  for (std::size_t i = 0; i < colors.size(); ++i) {
    const double level = double(i) / 255;
    const double angle = 2 * std::numbers::pi * (start / 3 + 1 + rotations * level);
    const double amplitude = hue * level * (1 - level) / 2;
    const double c = amplitude * std::cos(angle), s = amplitude * std::sin(angle);
    const auto byte = [level](double deviation) {
      return png_byte(std::lround(255 * std::clamp(level + deviation, 0.0, 1.0)));
    };
    colors[i] = {byte(-0.14861 * c + 1.78277 * s), byte(-0.29227 * c - 0.90649 * s),
                 byte(1.97294 * c)};
  }
  return colors;
}

void appendBytes(png_structp png, png_bytep data, png_size_t length) {
  auto &bytes = *static_cast<std::string *>(png_get_io_ptr(png));
  bytes.append(reinterpret_cast<const char *>(data), length);
}

void noFlush(png_structp) {}

void ignoreWarning(png_structp, png_const_charp) {}

[[noreturn]] void throwError(png_structp, png_const_charp message) {
  throw std::runtime_error(std::string("libpng: ") + message);
}

struct Writer {
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, throwError, ignoreWarning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  Writer() {
    if (!info)
      throw std::runtime_error("libpng: cannot start");
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

} // namespace

void writePng(OutputFile &out, std::int64_t fastPixels, std::int64_t slowPixels,
              std::span<const std::uint8_t> tones, Palette palette) {
  if (tones.size() != std::size_t(productOf({slowPixels, fastPixels}, "a picture")))
    throw std::invalid_argument("the tones do not fill the picture");
  Writer writer;
  std::string bytes;
  png_set_write_fn(writer.png, &bytes, appendBytes, noFlush);
  const bool colored = palette == Palette::Cubehelix;
  png_set_IHDR(writer.png, writer.info, png_uint_32(fastPixels), png_uint_32(slowPixels), 8,
               colored ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (colored) {
    const auto colors = cubehelix();
    png_set_PLTE(writer.png, writer.info, colors.data(), int(colors.size()));
  }
  png_write_info(writer.png, writer.info);
  std::vector<std::uint8_t> row;
  for (std::int64_t s = 0; s < slowPixels; ++s) {
    const auto line = tones.subspan(std::size_t(s * fastPixels), std::size_t(fastPixels));
    row.assign(line.begin(), line.end());
    if (palette == Palette::Film)
      for (std::uint8_t &tone : row)
        tone = std::uint8_t(255 - tone);
    png_write_row(writer.png, row.data());
  }
  png_write_end(writer.png, nullptr);
  out.write(bytes);
}

} // namespace nanobragg::io
