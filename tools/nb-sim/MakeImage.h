// An image and its files.
#ifndef NANOBRAGG_NBSIM_MAKEIMAGE_H
#define NANOBRAGG_NBSIM_MAKEIMAGE_H

#include "runtime/kernels/KernelProvider.h"
#include "tools/nb-sim/Timing.h"
#include "tools/shared/RunSetup.h"

namespace nanobragg {

/// Renders the image, prints what the C program prints about it and writes its files. Every error
/// is an exception.
void makeImage(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start);

} // namespace nanobragg
#endif
