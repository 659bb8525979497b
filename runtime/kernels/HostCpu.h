// The processor features that native code may rely on.
#ifndef NANOBRAGG_RUNTIME_HOSTCPU_H
#define NANOBRAGG_RUNTIME_HOSTCPU_H

#include <string>

namespace nanobragg {

/// The processor and its instruction set as a few lines of canonical text. Two machines with equal
/// text run the same native code; it is found without LLVM.
std::string describeHostCpu();

} // namespace nanobragg
#endif
