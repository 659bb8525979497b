#include "lib/Inputs/CellOfShots.h"

#include "lib/Inputs/ShotTable.h"

namespace nanobragg {

bool areExperiments(const std::string &shots) {
  const std::size_t first = shots.find_first_not_of(" \t\r\n");
  return first != std::string::npos && shots[first] == '{';
}

std::optional<std::array<double, 6>> cellOfShots(const std::string &shots, CommandLine line) {
  const std::string &path = *line.series.shots;
  if (areExperiments(shots)) // their crystals are in the frame of their detector
    throw UsageError("--shots=" + path +
                     " has experiments of DIALS, of which beam and detector are "
                     "needed too: give --expt=" +
                     path);
  applyShot(readShotTable(path, shots, line).front().front(), line);
  return line.options.cell;
}

} // namespace nanobragg
