// Experiment lists of DIALS.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/ExptFile.h"
#include "lib/Inputs/DialsInput.h"
#include "lib/Quantities/QuantityRows.h"

#include <cmath>
#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(expt) {
  try {
    for (const io::DialsExperiment &e : io::readExpt(fuzz::fileWith(input))) {
      ExperimentRequest request;
      LoadedInputs loaded;
      loaded.options.defaultF = 1;
      loaded.options.cell = flagUnit::inSI<6>(flagUnit::cell, {50, 60, 70, 90, 90, 90});
      loaded.options.oversample = 1;
      placePanels("input", e.panels, e.beam, "", request, loaded);
      std::int64_t pixels = 0;
      for (const io::DialsPanel &p : e.panels)
        pixels = std::max(pixels, p.pixels[0] * p.pixels[1]);
      if (pixels * std::int64_t(e.panels.size()) > 10000)
        continue; // masks take memory
      const Detector d =
          chooseDefaults(loaded.options, loaded.inputs, request.semantics).experiment.detector;
      fuzz::require(d.panels.size() == (e.panels.size() == 1 ? 0 : e.panels.size()),
                    "no panel is lost");
      fuzz::require(std::isfinite(d.closeDistance), "the detector stands somewhere");
    }
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  } catch (const std::invalid_argument &refusal) {
    fuzz::requireSentence(refusal);
  }
}
