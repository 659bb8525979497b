// The C program's binary structure factors.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/DumpFile.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(dump) {
  try {
    const HklGrid g = io::readDump(fuzz::fileWith(input));
    const std::int64_t nodes =
        (g.hMax - g.hMin + 1) * (g.kMax - g.kMin + 1) * (g.lMax - g.lMin + 1);
    fuzz::require(nodes == std::int64_t(g.values.size()), "the grid fills its box");
    fuzz::require(g.values.size() * sizeof(double) < input.size(), "nodes come from the file");
    for (double value : g.values)
      fuzz::require(std::isfinite(value), "structure factors are finite");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
