// NXmx files.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/HDF5/Nexus.h"

using namespace nanobragg;

NB_FUZZ_TARGET(nexus) {
  const std::string path = fuzz::fileWith(input);
  try {
    const io::NexusImage image = io::readNexusImage(path, 0);
    fuzz::require(image.slow * image.fast == image.pixels.size(), "the pixels fill the image");
    io::readSpectrum(path);
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
