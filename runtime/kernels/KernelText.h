// The description of a kernel file by itself.
//
// Read from the file's NB_KERNEL_TEXT_SECTION without loading it: for objects, for other
// processors, for messages.
#ifndef NANOBRAGG_KERNELTEXT_H
#define NANOBRAGG_KERNELTEXT_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

struct KernelTextParameter {
  std::string name, kind, unit;
};

/// Code of a GPU's chip.
struct KernelTextCode {
  std::string chip, kind, version, bytes;
};

/// One version of a kernel. The names are those of nb_kernel_descriptor.
struct KernelText {
  std::string name, abi, target, features, precision, image, variant, build;
  std::vector<KernelTextParameter> parameters, outputs;
  std::vector<KernelTextCode> codes; ///< code for a GPU; none: it is a kernel of the processor
};

struct KernelFileText {
  bool object = false;              ///< to be linked; otherwise to be loaded
  std::vector<KernelText> versions; ///< the one that needs most comes first
};

/// Is it an object to be linked, and not a shared object? Throws std::runtime_error when it is
/// neither.
bool isObjectFile(std::span<const char> file);

/// Throws std::runtime_error saying in what respect the bytes are no kernel file.
KernelFileText readKernelText(std::span<const char> file);

} // namespace nanobragg
#endif
