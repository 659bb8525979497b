// What is wrong with a file.
#ifndef NANOBRAGG_IO_FILEERROR_H
#define NANOBRAGG_IO_FILEERROR_H

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace nanobragg::io {

/// A file that cannot be read, understood or written. what() is one line,
/// `FILE:LINE: what is wrong; how to fix`, without the line where there is none. It quotes the
/// file, and a terminal obeys control characters: there is a ? instead of each.
class FileError : public std::runtime_error {
public:
  FileError(const std::string &file, const std::string &problem)
      : FileError(file + ": " + problem) {}
  FileError(const std::string &file, std::size_t line, const std::string &problem)
      : FileError(file + ":" + std::to_string(line) + ": " + problem) {}
  /// The same error from its text.
  explicit FileError(std::string sentence) : std::runtime_error(printable(std::move(sentence))) {}

private:
  static std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    return text;
  }
};

} // namespace nanobragg::io
#endif
