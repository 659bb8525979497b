// Tables of shots, up to the experiments that they describe.
#include "test/fuzz/FuzzTarget.h"

#include "lib/Choose/Defaults.h"
#include "lib/Files/FileError.h"
#include "lib/Runs/ShotTable.h"

#include <stdexcept>

using namespace nanobragg;

NB_FUZZ_TARGET(shots) {
  const CommandLine line = parseCommandLine(
      {"-cell", "50", "60", "70", "90", "90", "90", "-default_F", "1", "-detpixels", "8"});
  std::vector<Shot> shots;
  try {
    shots = readShotTable(fuzz::fileWith(input), {input.data(), input.size()}, line);
  } catch (const io::FileError &refusal) {
    fuzz::requireSentence(refusal);
    return;
  }
  fuzz::require(!shots.empty(), "a table has shots");
  for (const Shot &shot : shots)
    try {
      CommandLine frame = line;
      for (const ShotLattice &lattice : shot)
        applyShot(lattice, frame);
      chooseDefaults(frame.options, Inputs{}, frame.semantics);
    } catch (const UsageError &) {
      fuzz::require(false, "a shot that was read can be applied");
    } catch (const std::invalid_argument &refusal) {
      fuzz::requireSentence(refusal);
    }
}
