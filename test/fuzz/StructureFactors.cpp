// Reflections and models that gemmi reads.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Gemmi/Model.h"
#include "lib/Gemmi/Reflections.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(structure_factors) {
  const std::string content(input.begin(), input.end());
  try {
    const io::StructureFactorFormat format = io::formatOf("input", content);
    io::StructureFactors found;
    if (format == io::StructureFactorFormat::Mtz)
      found = io::readMtz({"input", ""}, content, 1);
    else if (format == io::StructureFactorFormat::CifReflections)
      found = io::readCifReflections({"input", ""}, content, 1);
    else if (isModel(format))
      found =
          io::factorsOfModel("input", content, format, {.dmin = 8, .kSol = 0.3, .bSol = 40}, {});
    else
      return;
    for (const double value : found.grid.values)
      fuzz::require(std::isfinite(value), "structure factors are finite");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
