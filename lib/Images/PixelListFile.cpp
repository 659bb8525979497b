#include "lib/Images/PixelListFile.h"

#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/MemoryLimit.h"
#include "lib/Files/TextScanner.h"

#include <cmath>

namespace nanobragg::io {
namespace {

constexpr const char *forms =
    "a line is panel fast slow, or of a box panel fast0 fast1 slow0 slow1";

/// One line of the table.
struct Row {
  const std::string &path;
  std::size_t line;

  [[noreturn]] void refuse(const std::string &why) const { throw FileError(path, line, why); }

  /// Checks that `begin` <= index < `end`.
  std::int64_t index(double number, const char *what, std::int64_t begin, std::int64_t end) const {
    if (number != std::floor(number) || number < double(begin) || number >= double(end))
      refuse(std::string(what) + " is " + shortNumber(number) + "; the detector has " +
             std::to_string(begin) + " to " + std::to_string(end - 1) + ", and " + forms);
    return std::int64_t(number);
  }
};

} // namespace

std::vector<PixelIndex> readPixelList(const std::string &path, const ImageRegion &detector) {
  std::vector<PixelIndex> pixels;
  // A pixel of the list takes some ten numbers until its value is written.
  const std::uint64_t most = memoryLimit() / (16 * sizeof(PixelIndex));
  forEachRow(
      path, readMaybeCompressed(path), 6,
      [&](std::size_t line, const std::vector<double> &numbers) {
        const Row row{path, line};
        const bool box = numbers.size() == 5;
        if (numbers.size() != 3 && !box)
          row.refuse("has " + std::to_string(numbers.size()) + " numbers; " + forms);
        const std::int64_t panel = row.index(numbers[0], "panel", 0, detector.panels);
        const std::int64_t fast = row.index(numbers[1], "fast", 0, detector.fastPixels);
        const std::int64_t slow = row.index(numbers[box ? 3 : 2], "slow", 0, detector.slowPixels);
        const std::int64_t fastEnd =
            box ? row.index(numbers[2], "fast1", fast + 1, detector.fastPixels + 1) : fast + 1;
        const std::int64_t slowEnd =
            box ? row.index(numbers[4], "slow1", slow + 1, detector.slowPixels + 1) : slow + 1;
        if (pixels.size() + std::uint64_t((fastEnd - fast) * (slowEnd - slow)) > most)
          row.refuse("brings the list to more pixels than fit into memory; split it");
        for (std::int64_t s = slow; s != slowEnd; ++s)
          for (std::int64_t f = fast; f != fastEnd; ++f)
            pixels.push_back({panel, s, f});
      });
  if (pixels.empty())
    throw FileError(path, std::string("lists no pixel; ") + forms);
  return pixels;
}

} // namespace nanobragg::io
