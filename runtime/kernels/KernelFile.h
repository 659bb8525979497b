// Kernels that are shared objects.
#ifndef NANOBRAGG_KERNELFILE_H
#define NANOBRAGG_KERNELFILE_H

#include "runtime/processor/KernelRunner.h"

#include <span>

namespace nanobragg {

/// The kernel that a shared object holds, loaded from memory: what was checked is what runs,
/// whatever becomes of the file it was read from. Throws std::runtime_error when it cannot be
/// loaded or holds no kernel of this ABI.
KernelHandle loadKernel(std::span<const char> image);

} // namespace nanobragg
#endif
