// Mask files of DIALS, Python pickles.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/DialsMask.h"

using namespace nanobragg;

NB_FUZZ_TARGET(dials_mask) {
  try {
    for (const io::DialsMaskPanel &p : io::readDialsMask(fuzz::fileWith(input)))
      fuzz::require(p.pixels.size() == std::size_t(p.slow * p.fast), "a panel has all its pixels");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
