#include "lib/Formats/DialsMask.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"

#include <algorithm>
#include <string_view>

namespace nanobragg::io {
namespace {

/// Walks over the instructions of a pickle, which is a small part of what pickles can say: an array
/// of flex.bool is two numbers, its size, and then bytes.
class PickleReader {
public:
  PickleReader(const std::string &path, std::string_view bytes) : path(path), rest(bytes) {}

  std::vector<DialsMaskPanel> read() {
    while (true) {
      const unsigned char code = static_cast<unsigned char>(take(1).front());
      switch (code) {
      case '.': // the end
        if (panels.empty())
          refuse("has no array of true and false");
        return std::move(panels);
      case 'K':
        push(number(1));
        break;
      case 'M':
        push(number(2));
        break;
      case 'J':
        push(number(4));
        break;
      case 'C':
        array(take(number(1)));
        break;
      case 'B':
        array(take(number(4)));
        break;
      case 0x8e:
        array(take(number(8)));
        break;
      default:
        skip(code);
      }
    }
  }

private:
  [[noreturn]] void refuse(const std::string &what) const {
    throw FileError(path, what +
                              ", as a mask of dials.generate_mask has it; save the mask as an SMV "
                              "image of 0 and 1 and give it with -mask");
  }

  std::string_view take(std::uint64_t count) {
    if (count > rest.size())
      refuse("ends within an instruction of a Python pickle");
    const std::string_view taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
  }

  std::uint64_t number(std::size_t bytes) { return littleEndian(take(bytes)); }

  static std::uint64_t littleEndian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }

  void push(std::uint64_t value) {
    numbers[0] = numbers[1];
    numbers[1] = value;
  }

  /// Instructions without a number or bytes: how long their argument is.
  void skip(unsigned char code) {
    constexpr std::string_view alone = ")Rb(te]al\x85\x86\x87\x88\x89\x93\x94";
    if (alone.find(char(code)) != alone.npos)
      return;
    if (code == 0x80 || code == 'h' || code == 'q') // protocol, memo
      take(1);
    else if (code == 'j' || code == 'r')
      take(4);
    else if (code == 0x95) // a frame
      take(8);
    else if (code == 0x8c) // names
      take(number(1));
    else if (code == 'X')
      take(number(4));
    else
      refuse("has an instruction of Python pickles that is not read here");
  }

  /// How many bytes stand before the elements, this one included; how many elements there are; and
  /// "1" or "0" for each.
  void array(std::string_view bytes) {
    const std::size_t header = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
    const auto count = tryProduct({std::int64_t(numbers[0]), std::int64_t(numbers[1])});
    if (header < 2 || header > 9 || bytes.size() < header || !count ||
        littleEndian(bytes.substr(1, header - 1)) != std::uint64_t(*count) ||
        bytes.size() - header != std::size_t(*count))
      refuse("has bytes that are not an array of true and false");
    bytes.remove_prefix(header);
    if (bytes.find_first_not_of("01") != bytes.npos)
      refuse("has an array that is not of true and false");
    DialsMaskPanel panel{std::int64_t(numbers[0]), std::int64_t(numbers[1]), {}};
    panel.pixels.resize(bytes.size());
    std::ranges::transform(bytes, panel.pixels.begin(),
                           [](char element) { return std::uint8_t(element == '1'); });
    panels.push_back(std::move(panel));
  }

  const std::string &path;
  std::string_view rest;
  std::uint64_t numbers[2] = {};
  std::vector<DialsMaskPanel> panels;
};

} // namespace

std::vector<DialsMaskPanel> readDialsMask(const std::string &path) {
  requireRegular(path);
  const std::string bytes = readBytes(path);
  return PickleReader(path, bytes).read();
}

} // namespace nanobragg::io
