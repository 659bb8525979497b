// MOSFLM orientation matrices, and the crystal that follows from them.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Formats/TextFiles.h"

#include <cmath>
#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(matrix) {
  Inputs inputs;
  try {
    inputs.mosflmMatrix = io::readMatrix(fuzz::fileWith(input));
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
    return;
  }
  for (double element : *inputs.mosflmMatrix)
    fuzz::require(std::isfinite(element), "the elements of a matrix are finite");
  Options options;
  options.defaultF = 1;
  options.lambda = 1e-10;
  options.fastPixels = options.slowPixels = 8;
  options.oversample = 1;
  for (const Semantics &semantics : {Semantics::right(), Semantics::c()})
    try {
      chooseDefaults(options, inputs, semantics);
    } catch (const std::invalid_argument &refusal) {
      fuzz::requireSentence(refusal);
    }
}
