// A recorded compilation to read.
#ifndef NANOBRAGG_NBEXPLORE_PAGE_H
#define NANOBRAGG_NBEXPLORE_PAGE_H

#include "lib/Compiler/Lab/Recording.h"

#include <string>

namespace nanobragg {

/// One HTML file that needs no other. The recording is in it, compressed.
std::string pageOf(const mlir::nb::Recording &recording);

/// For terminals: passes, remarks, ops, the inner loop.
std::string textOf(const mlir::nb::Recording &recording);

} // namespace nanobragg
#endif
