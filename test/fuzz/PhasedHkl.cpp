// Structure factors with phases as text.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/AnomalousFiles.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(phased_hkl) {
  try {
    const io::StructureFactors factors =
        io::parsePhasedHkl("list", std::string(input.begin(), input.end()), 1.5);
    const HklGrid &box = factors.grid;
    const auto nodes = std::size_t((box.hMax - box.hMin + 1) * (box.kMax - box.kMin + 1) *
                                   (box.lMax - box.lMin + 1));
    fuzz::require(box.values.size() == nodes && factors.real.size() == nodes &&
                      factors.imaginary.size() == nodes,
                  "the list fills its box");
    fuzz::require(factors.duplicates < factors.reflections, "not every reflection is a repetition");
    for (double value : box.values)
      fuzz::require(std::isfinite(value), "structure factors are finite");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
