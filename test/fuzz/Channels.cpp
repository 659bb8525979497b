// Which structure factors belong to which energy, as text.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Files/FileError.h"
#include "lib/Formats/AnomalousFiles.h"

#include <cmath>

using namespace nanobragg;

NB_FUZZ_TARGET(channels) {
  try {
    double before = 0;
    for (const io::ChannelFile &channel : io::readChannels(fuzz::fileWith(input))) {
      fuzz::require(channel.energy > before && std::isfinite(channel.energy),
                    "energies ascend from above 0");
      fuzz::require(!channel.hkl.empty(), "each energy has a file");
      before = channel.energy;
    }
    fuzz::require(before > 0, "there is a channel");
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
  }
}
