// Detector geometries of CrystFEL, and spectra.
#include "test/fuzz/FuzzTarget.h"

#include "lib/IO/CrystfelGeometry.h"
#include "lib/IO/FileError.h"
#include "lib/IO/SpectrumFile.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(geometry) {
  const std::string text(input.begin(), input.end());
  // Boxes of bad pixels go through all pixels of all panels.
  if (text.find("min_x") == text.npos)
    try {
      for (const io::DialsPanel &p : io::readCrystfelGeometry(fuzz::fileWith(input), 100).panels)
        for (const Vec3 &v : {p.fast, p.slow, p.origin})
          for (const double x : v)
            fuzz::require(std::isfinite(x), "panels stand somewhere");
    } catch (const io::FileError &refusal) {
      fuzz::requireSentence(refusal);
    }
  try {
    for (const auto &[wavelength, weight] : io::readSpectrumFile(fuzz::fileWith(input)))
      fuzz::require(wavelength > 0 && weight > 0, "points of a spectrum are above 0");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
