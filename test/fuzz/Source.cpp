// Lists of X-ray sources, and of background structure factors, which are read the same way.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/TextFiles.h"
#include "lib/Quantities/QuantityRows.h"

#include <cmath>
#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(source) {
  const std::string file = fuzz::fileWith(input);
  try {
    const io::StolTable table = io::readStol(file);
    for (const io::StolPoint &point : table.points)
      fuzz::require(std::isfinite(point.stol) && std::isfinite(point.f), "numbers are finite");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }

  Inputs inputs;
  try {
    for (const io::SourceLine &line : io::readSources(file))
      inputs.sources.push_back({line.position, line.weight, line.wavelength});
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
    return;
  }
  Options options;
  options.defaultF = 1;
  options.cell = flagUnit::inSI<6>(flagUnit::cell, {50, 60, 70, 90, 90, 90});
  options.fastPixels = options.slowPixels = 8;
  options.oversample = 1;
  for (const Semantics &semantics : {Semantics::right(), Semantics::c()})
    try {
      const Beam beam = chooseDefaults(options, inputs, semantics).experiment.beam;
      fuzz::require(beam.sourceWeight.size() == inputs.sources.size(), "every source counts");
      for (double wavelength : beam.sourceWavelength)
        fuzz::require(wavelength > 0 && std::isfinite(wavelength), "wavelengths are positive");
    } catch (const std::invalid_argument &refusal) {
      fuzz::requireSentence(refusal);
    }
}
