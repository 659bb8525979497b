#include "lib/CommandLine/CellOfShots.h"

#include "lib/CommandLine/ShotTable.h"

namespace nanobragg {

bool areExperiments(const std::string &shots) {
  const std::size_t first = shots.find_first_not_of(" \t\r\n");
  return first != std::string::npos && shots[first] == '{';
}

void takeCellOfShots(const std::string &shots, CommandLine &line) {
  const std::string &path = *line.series.shots;
  if (areExperiments(shots)) // their crystals are in the frame of their detector
    throw UsageError("--shots=" + path +
                     " has experiments of DIALS, of which beam and detector are "
                     "needed too: give --expt=" +
                     path);
  CommandLine one = line;
  applyShot(readShotTable(path, shots, line).front().front(), one);
  line.options.cell = one.options.cell;
}

} // namespace nanobragg
