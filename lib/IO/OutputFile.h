// A file that appears complete or not at all.
#ifndef NANOBRAGG_IO_OUTPUTFILE_H
#define NANOBRAGG_IO_OUTPUTFILE_H

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nanobragg::io {

/// Bytes go to a temporary in the directory of the target; commit() renames it. Without commit()
/// the target stays as it was and the temporary is removed. A target that exists and is no regular
/// file (a pipe, /dev/null) is written directly; a name of an open descriptor (/dev/stdout, /dev/fd/3)
/// means that descriptor, whatever it leads to. A symbolic link is followed, also to a file that does
/// not exist yet. Every failure throws FileError.
///
/// What a process that was killed has left in the directory is removed when the next one opens an
/// output there.
///
/// Opened before a long computation it reports a missing directory or a write-protected target
/// while nothing is lost yet.
class OutputFile {
public:
  explicit OutputFile(std::string path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  void write(const void *data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  template <typename T> void write(std::span<const T> values) {
    write(values.data(), values.size_bytes());
  }

  /// Publishes what was written; nothing can be written afterwards.
  void commit();

  const std::string &path() const { return name; }

  /// Removes the temporaries of all open outputs. Async-signal-safe: for a signal handler that is
  /// about to end the process.
  static void removeTemporaries() noexcept;

private:
  struct Temporary;
  void discard() noexcept;
  [[noreturn]] void fail(const char *doing, int error);

  std::string name;               ///< as the user gave it
  std::string target;             ///< with symbolic links followed
  Temporary *temporary = nullptr; ///< null when writing directly, or done
  int descriptor = -1;
};

} // namespace nanobragg::io
#endif
