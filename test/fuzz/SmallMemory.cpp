// Stands in for lib/Files/MemoryLimit.cpp: a process that may have little, so that a list that asks
// for gigabytes is refused and not a way to stop the fuzzer.
#include "lib/Files/MemoryLimit.h"

namespace nanobragg::io {

std::uint64_t memoryLimit() { return std::uint64_t(64) << 20; }

std::string sizeText(double bytes) { return std::to_string(bytes) + " bytes"; }

std::uint64_t memoryLimitOfGroup(const std::string &, const std::string &) { return memoryLimit(); }

} // namespace nanobragg::io
