#include "lib/Formats/DumpFile.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/GridSize.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace nanobragg::io {
namespace {

constexpr const char *remedy = "; delete it and give the reflections with -hkl";

/// Parses the six bounds and the two bytes after them; returns where the nodes begin.
std::size_t parseBounds(const std::string &path, std::string_view bytes, HklGrid &grid) {
  const std::array<std::int64_t *, 6> bounds{&grid.hMin, &grid.hMax, &grid.kMin,
                                             &grid.kMax, &grid.lMin, &grid.lMax};
  const char *p = bytes.data(), *const end = p + bytes.size();
  for (std::int64_t *bound : bounds) {
    while (p != end && *p == ' ')
      ++p;
    std::int32_t value = 0;
    const auto [stop, error] = std::from_chars(p, end, value);
    if (error != std::errc{})
      throw FileError(path, std::string("does not begin with six index bounds") + remedy);
    *bound = value;
    p = stop;
  }
  // Exactly two bytes: skipping all white space, as scanf does, would eat into a first node that
  // happens to begin with such a byte.
  if (end - p < 2 || p[0] != '\n' || p[1] != '\f')
    throw FileError(path, std::string("has no newline and form feed after its bounds") + remedy);
  if (grid.hMin > grid.hMax || grid.kMin > grid.kMax || grid.lMin > grid.lMax)
    throw FileError(path, std::string("has a lower index bound above the upper one") + remedy);
  return std::size_t(p + 2 - bytes.data());
}

} // namespace

HklGrid readDump(const std::string &path) {
  const std::string bytes = readBytes(path);
  HklGrid grid;
  const std::size_t start = parseBounds(path, bytes, grid);
  const std::size_t nodes = gridNodes(path, grid, bytes.size() / sizeof(double));
  const auto hRange = std::size_t(grid.hMax - grid.hMin + 1);
  const auto kRange = std::size_t(grid.kMax - grid.kMin + 1);
  const auto lRange = std::size_t(grid.lMax - grid.lMin + 1);
  const auto stored = std::size_t(productOf({grid.hMax - grid.hMin + 2, grid.kMax - grid.kMin + 2,
                                             grid.lMax - grid.lMin + 2, sizeof(double)},
                                            "a grid"));
  if (bytes.size() - start != stored)
    throw FileError(path, "has " + std::to_string(bytes.size() - start) + " bytes of nodes where " +
                              std::to_string(stored) + " are due" + remedy);

  grid.values.resize(nodes);
  for (std::size_t h = 0; h < hRange; ++h)
    for (std::size_t k = 0; k < kRange; ++k) {
      const std::size_t row = (h * (kRange + 1) + k) * (lRange + 1);
      std::memcpy(&grid.values[(h * kRange + k) * lRange],
                  bytes.data() + start + row * sizeof(double), lRange * sizeof(double));
    }
  for (double value : grid.values)
    if (!std::isfinite(value))
      throw FileError(path, std::string("has a structure factor that is not a number") + remedy);
  return grid;
}

void writeDump(OutputFile &out, const HklGrid &grid) {
  std::string header;
  for (std::int64_t bound : {grid.hMin, grid.hMax, grid.kMin, grid.kMax, grid.lMin, grid.lMax})
    header += (header.empty() ? "" : " ") + std::to_string(bound);
  out.write(header + "\n\f");

  const auto hRange = std::size_t(grid.hMax - grid.hMin + 1);
  const auto kRange = std::size_t(grid.kMax - grid.kMin + 1);
  const auto lRange = std::size_t(grid.lMax - grid.lMin + 1);
  std::vector<double> plane((kRange + 1) * (lRange + 1), 0.0);
  for (std::size_t h = 0; h < hRange; ++h) {
    for (std::size_t k = 0; k < kRange; ++k)
      std::memcpy(&plane[k * (lRange + 1)], &grid.values[(h * kRange + k) * lRange],
                  lRange * sizeof(double));
    out.write(std::span<const double>(plane));
  }
  plane.assign(plane.size(), 0.0);
  out.write(std::span<const double>(plane));
}

} // namespace nanobragg::io
