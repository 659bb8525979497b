// Flags that change nothing in this run.
#ifndef NANOBRAGG_COMMANDLINE_NOEFFECT_H
#define NANOBRAGG_COMMANDLINE_NOEFFECT_H

#include "lib/CommandLine/CommandLine.h"

#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// One sentence for each flag that was given and has no effect. All reasons for that stand in one
/// table here; chooseDefaults() warns of other things.
std::vector<std::string> flagsWithoutEffect(const CommandLine &line, const Inputs &inputs);

/// As the user wrote them: the flags that name a file of the image, for whoever writes none.
std::vector<std::string> flagsOfImageFiles(const CommandLine &line);

/// The flags of that table.
std::vector<std::string_view> flagsThatMayHaveNoEffect();

} // namespace nanobragg
#endif
