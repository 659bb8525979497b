// Counts that were compiled in.
#ifndef NANOBRAGG_RUNTIME_FIXEDCOUNTS_H
#define NANOBRAGG_RUNTIME_FIXEDCOUNTS_H

#include "nanobragg/KernelABI.h"

namespace nanobragg {

/// Throws std::invalid_argument unless the counts that were compiled in are those that the kernel
/// is given.
void checkFixed(const nb_kernel_descriptor &kernel, const void *const *arguments);

} // namespace nanobragg
#endif
