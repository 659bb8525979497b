// SMV images as -mask takes them: which pixels count, and the camera.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Images/SmvFile.h"
#include "lib/Inputs/ImageHeader.h"
#include "lib/Quantities/QuantityRows.h"

#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(mask) {
  const std::string path = fuzz::fileWith(input);
  for (const Semantics &semantics : {Semantics::right(), Semantics::c()})
    for (bool sized : {false, true}) {
      Options options;
      options.defaultF = 1;
      options.cell = flagUnit::inSI<6>(flagUnit::cell, {50, 60, 70, 90, 90, 90});
      options.oversample = 1;
      if (sized)
        options.fastPixels = options.slowPixels = 4;
      try {
        io::SmvFile file = io::readSmv(path);
        Inputs inputs;
        inputs.maskHeader =
            readHeader(file, HeaderOf::Mask, semantics.headerLookup, options).values;
        inputs.mask = MaskImage{file.fastPixels, file.slowPixels, std::move(file.pixels)};
        const Detector detector = chooseDefaults(options, inputs, semantics).experiment.detector;
        fuzz::require(detector.mask.size() ==
                          std::size_t(detector.fastPixels * detector.slowPixels),
                      "the mask covers the detector");
      } catch (const io::FileError &refusal) {
        fuzz::requireSentence(refusal);
      } catch (const std::invalid_argument &refusal) {
        fuzz::requireSentence(refusal);
      }
    }
}
