// Kernels that were compiled ahead of time.
//
// A folder of kernel files, each under a name that says what it does. Programs look there before
// they look into the kernel cache, so that a machine without the compiler runs what another one has
// compiled.
#ifndef NANOBRAGG_KERNELFOLDERS_H
#define NANOBRAGG_KERNELFOLDERS_H

#include "runtime/kernels/CompilerLibrary.h"

#include <filesystem>
#include <string>
#include <vector>

namespace nanobragg {

/// The name under which a kernel of this variant, precision and derivative is looked for:
/// "cpu-<32 hexadecimal digits>.so"; "gpu-..." for NVIDIA chips, "gpu-on-cpu-..." for that target.
/// Which processors or chips a file serves is said inside.
std::string kernelFileName(const KernelRequest &request);

/// Those of NB_KERNEL_PATH, with colons between; when it is not set, lib/nanobragg/kernels beside
/// the folder of the running program. Only folders that exist.
std::vector<std::filesystem::path> kernelFolders();

/// The kernel's file in the first of the folders that has it; empty: none has.
std::filesystem::path findKernelFile(const KernelRequest &request);

} // namespace nanobragg
#endif
