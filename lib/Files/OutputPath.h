// The meaning of an output's name.
#ifndef NANOBRAGG_FILES_OUTPUTPATH_H
#define NANOBRAGG_FILES_OUTPUTPATH_H

#include <string>

namespace nanobragg::io {

/// The descriptor of this process that a name like /dev/stdout, /dev/fd/3 or /proc/self/fd/3 stands
/// for, also by way of symbolic links; -1: none.
int descriptorNamedBy(const std::string &path);

/// The path with symbolic links followed, also where the last one leads to a file that does not
/// exist; unchanged where it cannot be followed.
std::string followLinks(const std::string &path);

/// With its slash at the end; empty for the working directory.
std::string directoryOf(const std::string &path);

} // namespace nanobragg::io
#endif
