// Kernels that are shared objects.
#ifndef NANOBRAGG_KERNELFILE_H
#define NANOBRAGG_KERNELFILE_H

#include "runtime/processor/KernelRunner.h"

#include <span>
#include <vector>

namespace nanobragg {

/// The kernel that a shared object holds, loaded from memory: what was checked is what runs,
/// whatever becomes of the file it was read from. Throws std::runtime_error when it cannot be
/// loaded or holds no kernel of this ABI.
KernelHandle loadKernel(std::span<const char> image);

/// Does NB_KERNEL_FILES name a folder in which the files of kernels stay, for other programs?
bool keepsKernelFiles();

/// Where the loaded kernel begins that has code at this address; null: there is none.
const void *kernelAt(const void *address);
/// The shared object that was loaded there.
std::vector<char> imageOfKernel(const void *begin);

} // namespace nanobragg
#endif
