// The panels of a detector as JSON.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Inputs/PanelFile.h"
#include "lib/Quantities/QuantityRows.h"

#include <cmath>
#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(panels) {
  Options options;
  try {
    options.panels = readPanels(fuzz::fileWith(input));
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
    return;
  }
  options.defaultF = 1;
  options.cell = flagUnit::inSI<6>(flagUnit::cell, {50, 60, 70, 90, 90, 90});
  options.fastPixels = options.slowPixels = 8;
  options.oversample = 1;
  for (const Semantics &semantics : {Semantics::right(), Semantics::c()})
    try {
      const Detector detector = chooseDefaults(options, Inputs{}, semantics).experiment.detector;
      fuzz::require(detector.panels.size() == options.panels.size(), "no panel is lost");
      for (const Panel &panel : detector.panels)
        for (const Vec3 &axis : {panel.fastAxis, panel.slowAxis, panel.normal})
          for (double x : axis)
            fuzz::require(std::isfinite(x), "the axes of a panel are finite");
    } catch (const std::invalid_argument &refusal) {
      fuzz::requireSentence(refusal);
    }
}
