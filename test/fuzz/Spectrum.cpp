// Spectra as text.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Formats/SpectrumFile.h"

#include <cmath>
#include <string_view>

using namespace nanobragg;

NB_FUZZ_TARGET(spectrum) {
  if (io::isHdf5({input.data(), input.size()}))
    return; // the target nexus reads those
  try {
    for (const auto &[wavelength, weight] : io::readSpectrumFile(fuzz::fileWith(input)).points)
      fuzz::require(wavelength > 0 && std::isfinite(wavelength) && weight >= 0 &&
                        std::isfinite(weight),
                    "wavelengths are positive and weights not negative");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
