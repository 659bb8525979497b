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

namespace nanobragg {

/// The name under which a kernel of this variant, precision and derivative is looked for:
/// "cpu-<32 hexadecimal digits>.so"; "gpu-..." for NVIDIA chips, "gpu-on-cpu-..." for that target.
/// Which processors or chips a file serves is said inside.
std::string kernelFileName(const KernelRequest &request);

/// The kernel's file in the first folder that has it; empty: none has. The folders are those of
/// NB_KERNEL_PATH, with colons between; when it is not set, nanobragg/kernels in the folders of the
/// installation that no other user can write to (see findCode). Throws a Refusal when the variable
/// has a relative path.
std::filesystem::path findKernelFile(const KernelRequest &request);

} // namespace nanobragg
#endif
