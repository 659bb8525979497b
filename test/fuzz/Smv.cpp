// SMV images, as -img takes camera and rotation from their headers.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Images/SmvFile.h"
#include "lib/Inputs/ImageHeader.h"
#include "lib/Quantities/QuantityRows.h"

#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(smv) {
  const std::string path = fuzz::fileWith(input);
  for (const Semantics &semantics : {Semantics::right(), Semantics::c()})
    for (Convention convention : {Convention::Mosflm, Convention::Denzo, Convention::Adxv,
                                  Convention::Xds, Convention::Dials}) {
      Options options;
      options.defaultF = 1;
      options.cell = flagUnit::inSI<6>(flagUnit::cell, {50, 60, 70, 90, 90, 90});
      options.oversample = 1;
      options.convention = convention;
      try {
        const io::SmvFile file = io::readSmv(path);
        fuzz::require(file.pixels.size() == std::size_t(file.fastPixels * file.slowPixels),
                      "an image has all its pixels");
        Inputs inputs;
        inputs.imageHeader =
            readHeader(file, HeaderOf::Image, semantics.headerLookup, options).values;
        chooseDefaults(options, inputs, semantics);
      } catch (const io::FileError &refusal) {
        fuzz::requireSentence(refusal);
      } catch (const std::invalid_argument &refusal) {
        fuzz::requireSentence(refusal);
      }
    }
}
