// Which compiler would compile.
#ifndef NANOBRAGG_RUNTIME_COMPILERBUILD_H
#define NANOBRAGG_RUNTIME_COMPILERBUILD_H

#include <filesystem>
#include <string>

namespace nanobragg {

/// A name that tells one build of a shared library from another, found without loading it or
/// reading it whole (the compiler is large): the build id that the linker computed from its
/// contents. A library without one is known by size, time of modification and inode. Empty when the
/// file cannot be read.
std::string identifyBuild(const std::filesystem::path &library);

} // namespace nanobragg
#endif
