// Pipelines in files.
#ifndef NANOBRAGG_RUNS_SCHEDULE_H
#define NANOBRAGG_RUNS_SCHEDULE_H

#include "nanobragg/SimulatorOptions.h"

namespace nanobragg {

/// The passes with the pipeline itself where they name its file, "@FILE" (--schedule): its line
/// that is not a comment; and what it is for, where comments say so: "# variant: TEXT" and
/// "# precision: TEXT". Throws UsageError for a file that has no pipeline or cannot be understood,
/// io::FileError where it cannot be read.
OwnPasses readSchedule(OwnPasses passes);

} // namespace nanobragg
#endif
