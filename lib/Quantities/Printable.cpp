#include "lib/Quantities/Printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace nanobragg {
namespace {

struct CharacterRange {
  std::uint32_t first, last;
};

/// Characters of Unicode that have no sign of their own.
constexpr CharacterRange unseen[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x115f, 0x1160},
    {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xd800, 0xf8ff},
    {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};

bool isSeen(std::uint32_t character) {
  return std::ranges::none_of(unseen, [&](const CharacterRange &range) {
    return character >= range.first && character <= range.last;
  });
}

/// Bytes of the UTF-8 character that the text begins with; 0: it begins with none.
std::size_t lengthOf(std::string_view text, std::uint32_t &character) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length)
    return 0;
  character = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80)
      return 0;
    character = character << 6 | (next & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return character < least[length] ? 0 : length;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

} // namespace

std::string printable(std::string_view text, std::size_t longest) {
  if (text.size() > longest) {
    std::size_t head = longest * 3 / 4, tail = text.size() - longest / 5;
    while (head > 0 && continues(text[head]))
      --head;
    while (tail < text.size() && continues(text[tail]))
      ++tail;
    return printable(text.substr(0, head), longest) + " ... " +
           printable(text.substr(tail), longest);
  }
  std::string result;
  while (!text.empty()) {
    std::uint32_t character = 0;
    const std::size_t length = lengthOf(text, character);
    if (length > 0 && isSeen(character))
      result += text.substr(0, length);
    else
      result += '?';
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

} // namespace nanobragg
