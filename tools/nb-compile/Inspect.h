// A kernel file in words.
#ifndef NANOBRAGG_NBCOMPILE_INSPECT_H
#define NANOBRAGG_NBCOMPILE_INSPECT_H

#include <string>

namespace nanobragg {

/// Throws std::runtime_error naming the file.
std::string inspectKernel(const std::string &file);

} // namespace nanobragg
#endif
