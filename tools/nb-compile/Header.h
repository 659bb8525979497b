// The C header of an ahead-of-time object.
#ifndef NANOBRAGG_NBCOMPILE_HEADER_H
#define NANOBRAGG_NBCOMPILE_HEADER_H

#include "lib/Program/KernelSpecification.h"
#include "runtime/kernels/KernelText.h"

#include <string>

namespace nanobragg {

/// Declares the function that the object of a variant defines, and lists its parameters.
std::string headerText(const KernelSpecification &kernel, const std::string &symbol);

/// The same of the kernel in an object file.
std::string headerText(const KernelText &kernel, const std::string &symbol);

} // namespace nanobragg
#endif
