// How much memory may this process have?
#ifndef NANOBRAGG_FILES_MEMORYLIMIT_H
#define NANOBRAGG_FILES_MEMORYLIMIT_H

#include <cstdint>
#include <string>

namespace nanobragg::io {

/// Bytes that this process may use in all: the machine's memory, or less where `ulimit -v`, `ulimit
/// -d` or a control group (a container, a batch system) says so.
std::uint64_t memoryLimit();

/// "6.0 GB"
std::string sizeText(double bytes);

/// The least of the limits in the files memory.max (memory.limit_in_bytes) of a control group and
/// the groups above it; all bits set: none. `mount` is where the groups are mounted, `group` the
/// group's path below it. Apart for its test.
std::uint64_t memoryLimitOfGroup(const std::string &mount, const std::string &group);

} // namespace nanobragg::io
#endif
