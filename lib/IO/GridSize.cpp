#include "lib/IO/GridSize.h"

#include <unistd.h>

namespace nanobragg::io {

FileError gridTooLarge(const std::string &path, const HklGrid &bounds) {
  const auto range = [](const char *name, std::int64_t low, std::int64_t high) {
    return std::string(name) + " " + std::to_string(low) + ".." + std::to_string(high);
  };
  return {path, "the indices span " + range("h", bounds.hMin, bounds.hMax) + ", " +
                    range("k", bounds.kMin, bounds.kMax) + ", " +
                    range("l", bounds.lMin, bounds.lMax) +
                    ", a box too large for this machine's memory; correct the outlying indices"};
}

std::size_t gridNodes(const std::string &path, const HklGrid &bounds) {
  const double h = double(bounds.hMax) - double(bounds.hMin) + 1;
  const double k = double(bounds.kMax) - double(bounds.kMin) + 1;
  const double l = double(bounds.lMax) - double(bounds.lMin) + 1;
  const double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (h * k * l * sizeof(double) > memory / 2)
    throw gridTooLarge(path, bounds);
  return std::size_t(h) * std::size_t(k) * std::size_t(l);
}

} // namespace nanobragg::io
