#include "lib/Files/FileError.h"
#include "lib/Images/CbfFile.h"
#include "lib/Images/CbfPacked.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace nanobragg::io {
namespace {

constexpr std::string_view start = "\x0c\x1a\x04\xd5";
constexpr std::int64_t mostPixels = std::int64_t(1) << 31;

/// The number after a key of the binary section's header.
std::optional<std::int64_t> numberAfter(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  if (at == header.npos)
    return std::nullopt;
  std::size_t begin = at + key.size();
  while (begin < header.size() && (header[begin] == ' ' || header[begin] == ':'))
    ++begin;
  std::int64_t value = 0;
  const auto [stop, error] =
      std::from_chars(header.data() + begin, header.data() + header.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

} // namespace

std::vector<std::int32_t> decompressByteOffset(const std::string &path, std::string_view bytes,
                                               std::size_t count) {
  if (count > bytes.size())
    throw FileError(path, "promises " + std::to_string(count) + " pixels and has " +
                              std::to_string(bytes.size()) + " bytes for them; it is cut short");
  std::vector<std::int32_t> pixels(count);
  const char *p = bytes.data(), *const end = p + bytes.size();
  const auto need = [&](std::ptrdiff_t size, std::size_t pixel) {
    if (end - p < size)
      throw FileError(path, "ends at pixel " + std::to_string(pixel) + " of " +
                                std::to_string(count) + "; it is cut short");
  };
  std::uint32_t value = 0; // wraps as the writer's differences do
  for (std::size_t i = 0; i < count; ++i) {
    need(1, i);
    const auto one = std::int8_t(*p++);
    std::int32_t difference = one;
    if (one == -128) {
      need(2, i);
      std::int16_t two;
      std::memcpy(&two, p, 2);
      p += 2;
      difference = two;
      if (two == -32768) {
        need(4, i);
        std::memcpy(&difference, p, 4);
        p += 4;
      }
    }
    value += std::uint32_t(difference);
    pixels[i] = std::int32_t(value);
  }
  return pixels;
}

bool isCbf(std::string_view bytes) { return bytes.starts_with("###CBF"); }

namespace {

constexpr std::string_view boundary = "--CIF-BINARY-FORMAT-SECTION--";

std::vector<std::int32_t> uncompressed(const std::string &path, std::string_view bytes,
                                       std::size_t count) {
  if (count > bytes.size() / 4)
    throw FileError(path, "promises " + std::to_string(count) + " pixels and has " +
                              std::to_string(bytes.size()) + " bytes for them; it is cut short");
  std::vector<std::int32_t> pixels(count);
  std::memcpy(pixels.data(), bytes.data(), 4 * count);
  return pixels;
}

/// Images of this size may be of any file; larger ones take no more than so many times its bytes.
constexpr double ordinaryBytes = 512e6, mostRatio = 100;

/// The images of a binary section, which begins with its header. `size`: bytes of its data, where
/// the header says it. `room`: for how many pixels.
CbfFile parseSection(const std::string &path, std::string_view section, std::size_t data,
                     std::optional<std::int64_t> size, std::size_t room) {
  const std::string_view header = section.substr(0, data);
  const auto says = [&](std::string_view text) { return header.find(text) != header.npos; };
  const auto fast = numberAfter(header, "X-Binary-Size-Fastest-Dimension");
  const auto slow = numberAfter(header, "X-Binary-Size-Second-Dimension");
  if (!fast || !slow || *fast < 1 || *slow < 1 || *fast > mostPixels || *slow > mostPixels / *fast)
    throw FileError(path, "does not say how many pixels it has (X-Binary-Size-Fastest-Dimension, "
                          "-Second-Dimension)");
  const std::int64_t images =
      std::max<std::int64_t>(numberAfter(header, "X-Binary-Size-Third-Dimension").value_or(1), 1);
  if (images > mostPixels / (*fast * *slow))
    throw FileError(path, "says that it has " + std::to_string(images) +
                              " images in a binary section (X-Binary-Size-Third-Dimension)");
  const auto count = std::size_t(*fast * *slow * images);
  if (count > room)
    throw FileError(path, "says that it has " + std::to_string(count) +
                              " pixels in a binary section, more than a file of its size holds; "
                              "its header is damaged");
  if (const auto elements = numberAfter(header, "X-Binary-Number-of-Elements");
      elements && *elements != std::int64_t(count))
    throw FileError(path, "says that it has " + std::to_string(*elements) +
                              " pixels (X-Binary-Number-of-Elements) and " + std::to_string(*fast) +
                              " x " + std::to_string(*slow) + "; correct its header");
  std::string_view rest = section.substr(data + start.size());
  if (size && *size >= 0 && std::size_t(*size) < rest.size())
    rest = rest.substr(0, std::size_t(*size));
  const bool integers = says("signed 32-bit integer") && !says("unsigned 32-bit integer");
  if (says("x-CBF_PACKED")) {
    const bool sixteen = says("signed 16-bit integer");
    if (!integers && !sixteen)
      throw FileError(path,
                      "has pixels that are not 16-bit or signed 32-bit integers, and no other "
                      "CBF is read here");
    PackedPixels how{std::size_t(*fast), std::size_t(*slow), std::size_t(images)};
    how.bits = sixteen ? 16 : 32;
    how.isSigned = !says("unsigned 16-bit integer");
    how.second = says("x-CBF_PACKED_V2");
    how.fromLast = says("\"flat\"");
    how.apart = says("uncorrelated_sections");
    return {*fast, *slow, images, decompressPacked(path, rest, how)};
  }
  const bool plain = says("x-CBF_NONE") || !says("conversions");
  if (!plain && !says("x-CBF_BYTE_OFFSET"))
    throw FileError(path, "is compressed neither by byte offsets nor packed, and no other CBF is "
                          "read here; write it anew with fabio or cbflib");
  if (!integers || says("BIG_ENDIAN"))
    throw FileError(path, "does not have signed 32-bit integers, the lowest byte first, and no "
                          "other CBF is read here");
  return {*fast, *slow, images,
          plain ? uncompressed(path, rest, count) : decompressByteOffset(path, rest, count)};
}

/// FileError where data of `size` bytes from `begin` on do not end where their section does, but
/// for `padding`: other programs' line ends were put into them, or taken from them.
void checkEnd(const std::string &path, std::string_view bytes, std::size_t begin, std::size_t size,
              std::size_t padding) {
  constexpr std::size_t ordinaryPadding = 64; // less may be said and not written
  const std::size_t next = bytes.find(boundary, begin);
  if (next == bytes.npos)
    return;
  const std::string_view section = bytes.substr(begin, next - begin);
  const std::size_t lineEnd = section.ends_with("\r\n") ? 2 : section.ends_with('\n') ? 1 : 0;
  const std::size_t all = section.size() - lineEnd;
  const bool wrong =
      padding >= ordinaryPadding
          ? all != size + padding
          : all < size ||
                section.substr(size, all - size)
                        .find_first_not_of(std::string_view("\0 \r\n", 4)) != section.npos;
  if (wrong)
    throw FileError(
        path, "has " + std::to_string(all) + " bytes in a binary section, and its header says " +
                  std::to_string(size) + " (X-Binary-Size) and " + std::to_string(padding) +
                  " (-Padding); it was copied as text or is damaged; copy it again");
}

} // namespace

CbfFile parseCbf(const std::string &path, std::string_view bytes) {
  CbfFile all;
  const auto most = std::size_t(std::max(ordinaryBytes, mostRatio * double(bytes.size())) / 4);
  for (std::size_t at = bytes.find(boundary), next; at != bytes.npos; at = next) {
    next = bytes.find(boundary, at + 1);
    if (bytes.substr(at + boundary.size(), 2) == "--") // where one ends
      continue;
    const std::size_t data = bytes.find(start, at);
    if (data == bytes.npos && all.pixels.empty())
      break;
    if (data >= next)
      throw FileError(path, "ends in the header of a binary section; it is cut short");
    const auto size = numberAfter(bytes.substr(at, data - at), "X-Binary-Size:");
    if (size && *size >= 0) {
      const auto padding = numberAfter(bytes.substr(at, data - at), "X-Binary-Size-Padding");
      checkEnd(path, bytes, data + start.size(), std::size_t(*size),
               std::size_t(std::clamp<std::int64_t>(padding.value_or(0), 0, mostPixels)));
    }
    CbfFile one = parseSection(path, bytes.substr(at), data - at, size, most - all.pixels.size());
    next = bytes.find(boundary, data + start.size() +
                                    std::size_t(std::max<std::int64_t>(size.value_or(0), 0)));
    if (all.pixels.empty()) {
      all = std::move(one);
      continue;
    }
    if (one.fastPixels != all.fastPixels || one.slowPixels != all.slowPixels)
      throw FileError(path, "has images of different sizes; write each into a file");
    all.panels += one.panels;
    all.pixels.insert(all.pixels.end(), one.pixels.begin(), one.pixels.end());
  }
  if (all.pixels.empty())
    throw FileError(path, "is a CBF file without a binary section; it is cut short or damaged");
  return all;
}

} // namespace nanobragg::io
