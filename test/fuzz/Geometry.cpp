// Detector geometries of CrystFEL.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/CrystfelGeometry.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(geometry) {
  const std::string text(input.begin(), input.end());
  // Boxes of bad pixels go through all pixels of all panels.
  if (text.find("min_x") != text.npos)
    return;
  try {
    for (const io::DialsPanel &p : io::readCrystfelGeometry(fuzz::fileWith(input), 100).panels)
      for (const Vec3 &v : {p.fast, p.slow, p.origin})
        for (const double x : v)
          fuzz::require(std::isfinite(x), "panels stand somewhere");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
