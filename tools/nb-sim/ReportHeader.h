// The image header of a run.
#ifndef NANOBRAGG_NBSIM_REPORTHEADER_H
#define NANOBRAGG_NBSIM_REPORTHEADER_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Experiment/Defaults.h"
#include "lib/IO/SmvFile.h"

namespace nanobragg {

/// With -compat c the header that the C program writes. By default its beam centre is the one that
/// dxtbx reads right, and it tells the pedestal.
io::SmvHeader headerOf(const CompleteExperiment &complete, const CommandLine &line);

} // namespace nanobragg
#endif
