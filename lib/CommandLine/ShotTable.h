// Tables of shots (--shots).
#ifndef NANOBRAGG_COMMANDLINE_SHOTTABLE_H
#define NANOBRAGG_COMMANDLINE_SHOTTABLE_H

#include "lib/CommandLine/CommandLine.h"

#include <string>
#include <vector>

namespace nanobragg {

/// What a shot has of its own, as words of a command line: -misset 1 2 3 -seed 7.
using Shot = std::vector<std::string>;

/// The lines of `text`, the content of the file `path`. Its first line names columns: flags without
/// dash, of crystal, beam and spindle. Throws io::FileError, also for a shot that the rest of the
/// command line, `line`, cannot take.
std::vector<Shot> readShotTable(const std::string &path, const std::string &text,
                                const CommandLine &line);

/// What `shot` says goes before what `line` said. Throws UsageError.
void applyShot(const Shot &shot, CommandLine &line);

} // namespace nanobragg
#endif
