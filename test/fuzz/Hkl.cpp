// Reflection lists, plain and compressed.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/HklFile.h"

#include <cmath>
#include <cstdio>

using namespace nanobragg;

namespace {

/// The fast reader of plain lines gives the numbers of the C library.
void compareWithLibrary(fuzz::Bytes input) {
  const std::string text(input.begin(), input.end());
  for (std::size_t begin = 0; begin < text.size();) {
    const char *line = text.data() + begin;
    io::Reflection r{};
    if (io::readPlainReflection(line, text.data() + text.size(), r)) {
      int h = 0, k = 0, l = 0;
      double f = 0;
      fuzz::require(std::sscanf(line, "%d %d %d %lf", &h, &k, &l, &f) == 4,
                    "a plain reflection has four numbers");
      fuzz::require(h == r.h && k == r.k && l == r.l && f == r.f,
                    "a plain reflection has the numbers that are written");
    }
    const std::size_t end = text.find('\n', begin);
    begin = end == std::string::npos ? text.size() : end + 1;
  }
}

} // namespace

NB_FUZZ_TARGET(hkl) {
  compareWithLibrary(input);
  try {
    const io::HklFile file = io::readHkl(fuzz::fileWith(input), 1.5);
    const HklGrid &g = file.grid;
    const std::int64_t nodes =
        (g.hMax - g.hMin + 1) * (g.kMax - g.kMin + 1) * (g.lMax - g.lMin + 1);
    fuzz::require(nodes == std::int64_t(g.values.size()), "the grid fills its box");
    fuzz::require(file.duplicates < file.reflections, "not every reflection is a repetition");
    for (double value : g.values)
      fuzz::require(std::isfinite(value), "structure factors are finite");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
