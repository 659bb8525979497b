// A kernel file in words, and as a C header.
#ifndef NANOBRAGG_NBCOMPILE_INSPECT_H
#define NANOBRAGG_NBCOMPILE_INSPECT_H

#include "lib/Program/KernelSpecification.h"
#include "runtime/kernels/KernelText.h"

#include <string>

namespace nanobragg {

/// Throws std::runtime_error naming the file.
std::string inspectKernel(const std::string &file);

/// Declares the function that the object of a variant defines, and lists its parameters.
std::string headerText(const KernelSpecification &kernel, const std::string &symbol);

/// The same of the kernel in an object file.
std::string headerText(const KernelText &kernel, const std::string &symbol);

} // namespace nanobragg
#endif
