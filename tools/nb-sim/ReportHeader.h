// The image header of a run.
#ifndef NANOBRAGG_NBSIM_REPORTHEADER_H
#define NANOBRAGG_NBSIM_REPORTHEADER_H

#include "lib/Choose/Defaults.h"
#include "lib/CommandLine/CommandLine.h"
#include "lib/Images/SmvFile.h"

namespace nanobragg {

/// The header of the image, or of one panel of several: an SMV file has one beam centre. With
/// -compat c the header that the C program writes. By default its beam centre is the one that dxtbx
/// reads right, and it tells the pedestal.
io::SmvHeader headerOf(const CompleteExperiment &complete, const CommandLine &line,
                       std::int64_t panel, std::optional<double> intScale = {});

} // namespace nanobragg
#endif
