#include "lib/Images/CbfPacked.h"
#include "lib/Files/FileError.h"

#include <algorithm>
#include <array>

namespace nanobragg::io {
namespace {

constexpr std::size_t headerBytes = 4 * 8; // how many pixels, the least, the largest, reserved
constexpr int whole = 65;                  // the code of a step that has all bits of a pixel
constexpr std::array<int, 8> stepBits = {0, 4, 5, 6, 7, 8, 16, whole};
constexpr std::array<int, 16> stepBitsOfSecond = {0,  3,  4,  5,  6,  7,  8,  9,
                                                  10, 11, 12, 13, 14, 15, 16, whole};

/// Bits from the lowest of each byte on.
class Bits {
public:
  explicit Bits(std::string_view bytes) : bytes(bytes) {}

  /// At most 32. False where the bytes have ended.
  bool next(int count, std::uint32_t &value) {
    while (held < count) {
      if (at == bytes.size())
        return false;
      buffer |= std::uint64_t(std::uint8_t(bytes[at++])) << held;
      held += 8;
    }
    value = std::uint32_t(buffer & ((std::uint64_t(1) << count) - 1));
    buffer >>= count;
    held -= count;
    return true;
  }

private:
  std::string_view bytes;
  std::size_t at = 0;
  std::uint64_t buffer = 0;
  int held = 0;
};

/// The low bits as a number with a sign.
std::uint32_t extended(std::uint32_t value, int bits) {
  const std::uint32_t sign = std::uint32_t(1) << (bits - 1);
  return ((value & (sign | (sign - 1))) ^ sign) - sign;
}

/// The prediction that a step begins from: the mean of neighbours that came before, where there are
/// some. pixels: as they are stored, without sign.
class Neighbours {
public:
  Neighbours(const std::vector<std::uint32_t> &pixels, const PackedPixels &how)
      : pixels(pixels), fast(how.fast), section(how.fast * how.slow), bits(how.bits),
        fromLast(how.fromLast), apart(how.apart) {}

  std::uint32_t before(std::size_t i) const {
    if (i == 0)
      return 0;
    if (fromLast)
      return pixels[i - 1];
    const std::size_t within = i % section;
    if (within == 0)
      return pixels[i - section];
    if (within < fast)
      return pixels[i - 1];
    const bool below = i > section && !apart;
    const std::size_t column = i % fast;
    std::uint32_t sum = row(i, column);
    if (below)
      sum += row(i - section, column) +
             (column == 0 ? 0 : pixels[i - section] - pixels[i - section - 1]);
    const bool inner = column != 0 && column + 1 != fast;
    return mean(sum, 1 + inner + below);
  }

private:
  /// The sum of those that came before in the image.
  std::uint32_t row(std::size_t i, std::size_t column) const {
    std::uint32_t sum = pixels[i - fast];
    if (column != 0)
      sum += pixels[i - 1];
    if (column + 1 != fast || column == 0)
      sum += pixels[i - fast + 1];
    if (column != 0 && column + 1 != fast)
      sum += pixels[i - fast - 1];
    return sum;
  }

  /// A sum over 2^logarithm, rounded; a sum of pixels of 16 bits has lost the bits beyond.
  std::uint32_t mean(std::uint32_t sum, int logarithm) const {
    const std::uint32_t raised = extended(sum, bits) + (1u << (logarithm - 1)); // may wrap
    return std::uint32_t(std::int32_t(raised) >> logarithm);
  }

  const std::vector<std::uint32_t> &pixels;
  std::size_t fast, section;
  int bits;
  bool fromLast, apart;
};

} // namespace

std::vector<std::int32_t> decompressPacked(const std::string &path, std::string_view bytes,
                                           const PackedPixels &how) {
  const std::size_t count = how.fast * how.slow * how.sections;
  const auto cutShort = [&](std::size_t pixel) {
    return FileError(path, "ends at pixel " + std::to_string(pixel) + " of " +
                               std::to_string(count) + "; it is cut short");
  };
  // A chunk of at most 128 pixels has six bits at least.
  if (bytes.size() < headerBytes || count / 128 > (bytes.size() - headerBytes) * 8 / 6)
    throw cutShort(0);
  const std::uint32_t mask = how.bits == 32 ? ~0u : (1u << how.bits) - 1;
  std::vector<std::uint32_t> stored(count);
  const Neighbours neighbours(stored, how);
  Bits in(bytes.substr(headerBytes));
  for (std::size_t i = 0; i < count;) {
    std::uint32_t code = 0;
    if (!in.next(how.second ? 7 : 6, code))
      throw cutShort(i);
    const std::size_t end = std::min(count, i + (std::size_t(1) << (code & 7)));
    int width = how.second ? stepBitsOfSecond[code >> 3] : stepBits[code >> 3];
    const bool overlong = width == whole && how.fromLast; // 32 bits, and 33 of its sign
    if (width == whole)
      width = how.fromLast ? 32 : how.bits;
    for (; i < end; ++i) {
      std::uint32_t step = 0, ignored = 0;
      if (width != 0 && !in.next(width, step))
        throw cutShort(i);
      if (overlong && !(in.next(32, ignored) && in.next(1, ignored)))
        throw cutShort(i);
      stored[i] = (neighbours.before(i) + (width ? extended(step, width) : 0)) & mask;
    }
  }
  std::vector<std::int32_t> pixels(count);
  for (std::size_t i = 0; i < count; ++i)
    pixels[i] = std::int32_t(how.isSigned ? extended(stored[i], how.bits) : stored[i]);
  return pixels;
}

} // namespace nanobragg::io
