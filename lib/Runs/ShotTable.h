// Tables of shots (--shots) and of the crystals that all images of a series show (--lattices).
#ifndef NANOBRAGG_RUNS_SHOTTABLE_H
#define NANOBRAGG_RUNS_SHOTTABLE_H

#include "lib/CommandLine/Flag.h"
#include "lib/Experiment/Experiment.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// The own part of a crystal of a shot, as words of a command line: -misset 1 2 3 -seed 7.
struct ShotLattice {
  std::vector<std::string> words;
  double weight = 1; ///< its photons are multiplied by that
  // Only with --lattices.
  Vec3 turn{}; ///< a rotation about its direction from the run's orientation, degrees
  double from = -std::numeric_limits<double>::infinity(); ///< where it is on images, degrees of
  double to = std::numeric_limits<double>::infinity();    ///< the spindle, both included
};

/// The crystals on one image. Words of the first hold for the others where they have none.
using Shot = std::vector<ShotLattice>;

/// Is the content of a file of shots a list of experiments of DIALS, and no table?
bool areExperiments(const std::string &shots);

/// The lines of `text`, the content of the file `path`. Its first line names columns: flags without
/// dash, of crystal, beam and spindle, and `weight`; a line that begins with + is another crystal
/// on the image of the line before. Where the first word is `draw`, the text says distributions
/// from which shots are drawn (ShotDistribution.h). Throws io::FileError, also for a shot that the
/// rest of the command line, `line`, cannot take.
std::vector<Shot> readShotTable(const std::string &path, const std::string &text,
                                const CommandLine &line);

/// The flag that a column is called after. Null where shots cannot have it.
const Flag *flagOfColumn(std::string_view word);
/// The column with the weight of a crystal, which is not a flag.
inline constexpr std::string_view weightColumn = "weight";

/// The lines of a table of crystals that share the images of a run: its first line names columns as
/// those of a table of shots, and of `turn` (three numbers), `from` and `to`. Throws io::FileError.
std::vector<ShotLattice> readLatticeTable(const std::string &path, const std::string &text,
                                          const CommandLine &line);

/// Applies the words of the crystal, which go before those of `line`. Throws UsageError.
void applyShot(const ShotLattice &lattice, CommandLine &line);

/// A table that readShotTable reads as these shots.
std::string shotTableText(const std::vector<Shot> &shots);

} // namespace nanobragg
#endif
