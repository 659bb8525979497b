// Flags that change nothing in this run.
#ifndef NANOBRAGG_COMMANDLINE_NOEFFECT_H
#define NANOBRAGG_COMMANDLINE_NOEFFECT_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Quantities/Quantity.h"

#include <string>
#include <vector>

namespace nanobragg {

/// One sentence for each flag that was given and has no effect: a quantity that nothing was chosen
/// by (`neverRead`, of CompleteExperiment), or a flag whose row says so.
std::vector<std::string> flagsWithoutEffect(const CommandLine &line,
                                            const std::vector<const Field *> &neverRead);

/// As the user wrote them: the flags that name a file of the image, for whoever writes none.
std::vector<std::string> flagsOfImageFiles(const CommandLine &line);

} // namespace nanobragg
#endif
