// A whole file in memory.
#ifndef NANOBRAGG_FILES_FILECONTENTS_H
#define NANOBRAGG_FILES_FILECONTENTS_H

#include <string>

namespace nanobragg::io {

/// All bytes of a file or pipe. Throws FileError, also for a device that is not empty.
std::string readBytes(const std::string &path);

/// As readBytes, inflating gzip (recognised by its first two bytes, not by the file's name), and
/// without the mark that some editors put before UTF-8 text. Text of UTF-16 is refused.
std::string readMaybeCompressed(const std::string &path);

/// For a name that stands in another file, which may lead to a pipe without a writer. Throws
/// FileError where it leads to something that is there and no regular file.
void requireRegular(const std::string &path);

} // namespace nanobragg::io
#endif
