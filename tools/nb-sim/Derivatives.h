// Gradients and derivative images.
#ifndef NANOBRAGG_NBSIM_DERIVATIVES_H
#define NANOBRAGG_NBSIM_DERIVATIVES_H

#include "runtime/kernels/KernelProvider.h"
#include "tools/shared/RunSetup.h"

#include <cstdio>

namespace nanobragg {

/// Prints what --grad asks for and writes the files of --jacobian and --timing. Throws UsageError
/// for names that are no parameters of the experiment.
void printDerivatives(const RunSetup &setup, KernelProvider &kernels, std::FILE *out);

} // namespace nanobragg
#endif
