#include "lib/Formats/GridSize.h"

#include "lib/Files/MemoryLimit.h"

namespace nanobragg::io {

namespace {

FileError tooLarge(const std::string &path, const HklGrid &bounds, const std::string &why) {
  const auto range = [](const char *name, std::int64_t low, std::int64_t high) {
    return std::string(name) + " " + std::to_string(low) + ".." + std::to_string(high);
  };
  return {path, "the indices span " + range("h", bounds.hMin, bounds.hMax) + ", " +
                    range("k", bounds.kMin, bounds.kMax) + ", " +
                    range("l", bounds.lMin, bounds.lMax) + ", " + why +
                    "; correct the outlying indices"};
}

/// Boxes up to this many nodes (1 GB) are taken whatever is listed in them: a few reflections of a
/// large cell are an honest list. Larger ones are honest when so many nodes have a reflection.
constexpr double freely = 1 << 27, nodesOfAReflection = 1000;

} // namespace

FileError gridTooLarge(const std::string &path, const HklGrid &bounds) {
  return tooLarge(path, bounds, "a box too large for the memory that this process may have");
}

std::size_t gridNodes(const std::string &path, const HklGrid &bounds, std::size_t listed) {
  const double h = double(bounds.hMax) - double(bounds.hMin) + 1;
  const double k = double(bounds.kMax) - double(bounds.kMin) + 1;
  const double l = double(bounds.lMax) - double(bounds.lMin) + 1;
  const double nodes = h * k * l, bytes = nodes * sizeof(double);
  if (bytes > double(memoryLimit()) / 2)
    throw gridTooLarge(path, bounds);
  if (nodes > double(mostGridNodes))
    throw tooLarge(path, bounds, "a box of 2^31 indices or more");
  if (nodes > freely && nodes > nodesOfAReflection * double(listed))
    throw tooLarge(path, bounds,
                   "a box of " + sizeText(bytes) + " for " + std::to_string(listed) +
                       " reflections");
  return std::size_t(h) * std::size_t(k) * std::size_t(l);
}

} // namespace nanobragg::io
