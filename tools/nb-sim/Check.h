// The plan of a run that is not made: --check.
#ifndef NANOBRAGG_NBSIM_CHECK_H
#define NANOBRAGG_NBSIM_CHECK_H

#include "tools/shared/RunSetup.h"

namespace nanobragg {

/// Prints the images, samples, program, files and time of a run, which is not made. The time is
/// measured on a few hundred pixels.
void check(const RunSetup &setup, KernelProvider &kernels);

} // namespace nanobragg
#endif
