// Shots drawn from distributions.
#ifndef NANOBRAGG_RUNS_SHOTDISTRIBUTION_H
#define NANOBRAGG_RUNS_SHOTDISTRIBUTION_H

#include "lib/Runs/ShotTable.h"

namespace nanobragg {

/// Does this text say distributions?
bool isDistribution(std::string_view text);

/// Shots drawn as the content of the file `path` says: docs/stills.md. The same text gives the
/// same shots on every machine. Throws io::FileError.
std::vector<Shot> drawShots(const std::string &path, const std::string &text);

} // namespace nanobragg
#endif
