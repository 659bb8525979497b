// The experiment on both engines.
#ifndef NANOBRAGG_NBSIM_COMPAREENGINES_H
#define NANOBRAGG_NBSIM_COMPAREENGINES_H

#include "tools/shared/RunSetup.h"
#include "runtime/kernels/KernelProvider.h"

#include <cstdio>

namespace nanobragg {

/// Renders the experiment of --compare-engines with the kernel and with the interpreter and prints
/// how far the images are apart; no file is written. Returns whether they agree.
bool compareEngines(const RunSetup &setup, KernelProvider &kernels, std::FILE *out);

} // namespace nanobragg
#endif
