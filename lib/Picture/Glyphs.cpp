#include "lib/Picture/Glyphs.h"

#include <array>

namespace nanobragg {
namespace {

constexpr std::string_view letters = "0123456789.Am ";
/// Rows from the top; the lowest bit is the right column.
constexpr std::array<std::array<std::uint8_t, glyphHeight>, letters.size()> shapes = {{
    {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110},
    {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},
    {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111},
    {0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110},
    {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010},
    {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110},
    {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110},
    {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000},
    {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110},
    {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100},
    {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100},
    {0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001},
    {0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101},
    {},
}};

} // namespace

std::int64_t widthOf(std::string_view text, std::int64_t scale) {
  return std::int64_t(text.size()) * (glyphWidth + 1) * scale - scale;
}

void writeText(Picture &picture, std::int64_t x, std::int64_t y, std::string_view text,
               std::int64_t scale, std::uint8_t ink, std::uint8_t paper) {
  for (std::int64_t row = -scale; row < (glyphHeight + 1) * scale; ++row)
    for (std::int64_t column = -scale; column < widthOf(text, scale) + scale; ++column)
      picture.set(x + column, y + row, paper);
  for (const char letter : text) {
    const std::size_t index = letters.find(letter);
    for (std::int64_t row = 0; index != letters.npos && row < glyphHeight * scale; ++row)
      for (std::int64_t column = 0; column < glyphWidth * scale; ++column)
        if (shapes[index][std::size_t(row / scale)] >> (glyphWidth - 1 - column / scale) & 1)
          picture.set(x + column, y + row, ink);
    x += (glyphWidth + 1) * scale;
  }
}

} // namespace nanobragg
