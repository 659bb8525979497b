// The error that a wrong file raises.
#ifndef NANOBRAGG_FILES_FILEERROR_H
#define NANOBRAGG_FILES_FILEERROR_H

#include "lib/Quantities/Printable.h"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace nanobragg::io {

/// A file that cannot be read, understood or written. what() is one line,
/// `FILE:LINE: what is wrong; how to fix`, without the line where there is none.
class FileError : public std::runtime_error {
public:
  FileError(const std::string &file, const std::string &problem)
      : FileError(file + ": " + problem) {}
  FileError(const std::string &file, std::size_t line, const std::string &problem)
      : FileError(file + ":" + std::to_string(line) + ": " + problem) {}
  /// The same error from its text.
  explicit FileError(const std::string &sentence) : std::runtime_error(printable(sentence)) {}
};

} // namespace nanobragg::io
#endif
