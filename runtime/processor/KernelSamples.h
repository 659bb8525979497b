// How much a kernel has to compute.
#ifndef NANOBRAGG_RUNTIME_KERNELSAMPLES_H
#define NANOBRAGG_RUNTIME_KERNELSAMPLES_H

#include "nanobragg/KernelABI.h"

namespace nanobragg {

/// Innermost evaluations for each pixel, by those of the kernel's counts that multiply them.
double samplesPerPixel(const nb_kernel_descriptor &kernel, const void *const *arguments);

} // namespace nanobragg

#endif
