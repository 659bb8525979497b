// Pipelines in files.
#ifndef NANOBRAGG_COMMANDLINE_SCHEDULE_H
#define NANOBRAGG_COMMANDLINE_SCHEDULE_H

#include "nanobragg/SimulatorOptions.h"

#include <string>

namespace nanobragg {

/// The passes with the pipeline itself, and the precision that it is for, where they name its file,
/// "@FILE" (--schedule): its line that is no comment. A file that says in a comment "# variant:
/// TEXT" is for programs of that variant; an empty `variant` is any; "# precision: TEXT" likewise.
/// Throws UsageError for a file that is for another one or has no pipeline, io::FileError where it
/// cannot be read.
OwnPasses readSchedule(OwnPasses passes, const std::string &variant = "",
                       const std::string &precision = "");

} // namespace nanobragg
#endif
