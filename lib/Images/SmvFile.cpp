#include "lib/Images/SmvFile.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace nanobragg::io {
namespace {

constexpr std::string_view whitespace = " \t\r\n\f";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(whitespace);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(whitespace) - begin + 1);
}

/// The number a value begins with; units may follow it.
double leadingNumber(const std::string &path, std::string_view key, std::string_view value) {
  const std::string_view text = trim(value);
  double number = 0;
  if (!parseNumber(text.data(), text.data() + text.size(), number))
    throw FileError(path, "the header has " + std::string(key) + "=" + inQuotes(text) +
                              ", which is not a number; correct the header");
  return number;
}

std::vector<std::pair<std::string, std::string>> parseEntries(std::string_view header) {
  std::vector<std::pair<std::string, std::string>> entries;
  header = header.substr(0, header.find("\n}"));
  while (!header.empty()) {
    const std::size_t end = header.find_first_of(";\n");
    const std::string_view entry = header.substr(0, end);
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos)
      entries.emplace_back(trim(entry.substr(0, equals)), trim(entry.substr(equals + 1)));
  }
  return entries;
}

std::int64_t wholeNumber(const SmvFile &file, std::string_view key, double largest) {
  const double value = file.number(key).value_or(0);
  if (value != std::nearbyint(value) || value < 0 || value > largest)
    throw FileError(file.path, "the header has " + std::string(key) + "=" + shortNumber(value) +
                                   ", which is no sensible size; correct the header");
  return std::int64_t(value);
}

bool isForeignByteOrder(const SmvFile &file) {
  const std::optional<std::string> order = file.text("BYTE_ORDER");
  if (!order)
    throw FileError(file.path, "the header has no BYTE_ORDER; add BYTE_ORDER=little_endian; or "
                               "BYTE_ORDER=big_endian;");
  if (*order != "little_endian" && *order != "big_endian")
    throw FileError(file.path, "the header has BYTE_ORDER=" + inQuotes(*order) +
                                   "; it must be little_endian or big_endian");
  return (*order == "little_endian") != (std::endian::native == std::endian::little);
}

void readPixels(SmvFile &file, std::string_view data) {
  const auto count = std::size_t(productOf({file.slowPixels, file.fastPixels}, "an SMV image"));
  if (data.size() < count * sizeof(std::uint16_t))
    throw FileError(file.path, "ends after " + std::to_string(data.size()) + " bytes of pixels, " +
                                   std::to_string(file.fastPixels) + " x " +
                                   std::to_string(file.slowPixels) + " need " +
                                   std::to_string(count * sizeof(std::uint16_t)) +
                                   "; copy the file again or correct SIZE1 and SIZE2");
  if (data.size() > count * sizeof(std::uint16_t) &&
      file.headerText.find('\r') != file.headerText.npos)
    throw FileError(file.path, "has " + std::to_string(data.size()) + " bytes of pixels, " +
                                   std::to_string(file.fastPixels) + " x " +
                                   std::to_string(file.slowPixels) + " need " +
                                   std::to_string(count * sizeof(std::uint16_t)) +
                                   ", and its lines end in CR LF: it was copied as text; copy it "
                                   "again as binary");
  file.pixels.resize(count);
  std::memcpy(file.pixels.data(), data.data(), count * sizeof(std::uint16_t));
  if (isForeignByteOrder(file))
    for (std::uint16_t &pixel : file.pixels)
      pixel = std::uint16_t(pixel << 8 | pixel >> 8);
}

} // namespace

std::optional<std::string> SmvFile::text(std::string_view key) const {
  for (const auto &[name, value] : entries)
    if (name == key)
      return value;
  return std::nullopt;
}

std::optional<double> SmvFile::number(std::string_view key) const {
  const std::optional<std::string> value = text(key);
  return value ? std::optional(leadingNumber(path, key, *value)) : std::nullopt;
}

std::optional<double> SmvFile::lastNumber(std::string_view keyword) const {
  const std::string_view header = headerText;
  const std::size_t found = header.rfind(keyword);
  if (found == std::string_view::npos)
    return std::nullopt;
  const std::size_t equals = header.find('=', found + keyword.size());
  if (equals == std::string_view::npos)
    return std::nullopt;
  const std::string_view rest = header.substr(equals + 1);
  return leadingNumber(path, keyword, rest.substr(0, rest.find_first_of(";\n")));
}

bool isSmv(std::string_view bytes) {
  return bytes.starts_with("{") && trim(bytes.substr(1, 64)).starts_with("HEADER_BYTES");
}

SmvFile readSmv(const std::string &path) { return parseSmv(path, readBytes(path)); }

SmvFile parseSmv(const std::string &path, std::string_view bytes) {
  constexpr std::size_t smallestHeader = 512;
  if (!isSmv(bytes))
    throw FileError(path, 1,
                    "is not an SMV image, which begins with { and HEADER_BYTES= on the "
                    "next line; convert it");
  if (bytes.size() < smallestHeader)
    throw FileError(path, "ends after " + std::to_string(bytes.size()) +
                              " bytes, inside the header; copy the file again");

  SmvFile file;
  file.path = path;
  // HEADER_BYTES itself is in the first block, whatever the length of the header.
  file.entries = parseEntries(bytes.substr(2, smallestHeader - 2));
  constexpr double largestHeader = 1 << 24, largestSide = 1 << 20;
  const std::int64_t headerBytes = wholeNumber(file, "HEADER_BYTES", largestHeader);
  if (headerBytes < std::int64_t(smallestHeader) || std::size_t(headerBytes) > bytes.size())
    throw FileError(path, "the header has HEADER_BYTES=" + std::to_string(headerBytes) +
                              ", but must have 512 or more and fit into the file of " +
                              std::to_string(bytes.size()) + " bytes; correct the header");
  // As a C string: what follows a zero byte is padding.
  file.headerText = std::string(bytes.data(), std::size_t(headerBytes)).c_str();
  file.entries = parseEntries(std::string_view(file.headerText).substr(2));

  const std::optional<std::string> type = file.text("TYPE");
  if (type && !type->starts_with("unsigned_short"))
    throw FileError(path, "the pixels have TYPE=" + inQuotes(*type) +
                              "; only unsigned_short can be read");
  file.fastPixels = wholeNumber(file, "SIZE1", largestSide);
  file.slowPixels = wholeNumber(file, "SIZE2", largestSide);
  if (file.fastPixels == 0)
    file.fastPixels = file.slowPixels = wholeNumber(file, "DETECTOR_DIMENSIONS", largestSide);
  if (file.fastPixels == 0 || file.slowPixels == 0)
    throw FileError(path, "the header has no SIZE1 and SIZE2; add the numbers of pixels along the "
                          "fast and the slow axis");
  readPixels(file, bytes.substr(std::size_t(headerBytes)));
  return file;
}

} // namespace nanobragg::io
