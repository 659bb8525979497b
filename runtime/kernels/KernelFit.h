// May this kernel do that work here?
#ifndef NANOBRAGG_KERNELFIT_H
#define NANOBRAGG_KERNELFIT_H

#include "lib/Program/KernelSpecification.h"
#include "nanobragg/Precision.h"
#include "runtime/processor/KernelRunner.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nanobragg {

/// The blank-separated instruction sets that this processor lacks; empty: it has all.
std::string missingFeatures(std::string_view features);

/// The first of a kernel's versions that this processor can run. Throws std::runtime_error naming
/// what it lacks.
const nb_kernel_descriptor &selectVersion(const nb_kernel_descriptor &first);

/// Loads a kernel file and selects the version for this processor. Nothing of the file is loaded
/// before its checksum is found right. Throws std::runtime_error naming the file and what is wrong
/// with it; a Refusal when it is damaged or no kernel file at all.
KernelHandle openKernelFile(const std::filesystem::path &file);

/// The names of what a kernel file returns beside its image, which comes first. Throws as
/// openKernelFile.
std::vector<std::string> otherResultsOf(const std::filesystem::path &file);

/// Throws std::runtime_error, beginning with `who`, that names each choice in which the kernel
/// differs from what is wanted, apart from fixed counts, or the precision, if one is. A kernel that
/// does not know its variant (one made from a program) fits if its parameters can be bound.
void checkFits(const nb_kernel_descriptor &kernel, KernelSpecification wanted,
               std::optional<Precision> precision, const std::string &who);

} // namespace nanobragg
#endif
