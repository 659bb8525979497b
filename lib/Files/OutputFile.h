// A file that appears complete or not at all.
#ifndef NANOBRAGG_FILES_OUTPUTFILE_H
#define NANOBRAGG_FILES_OUTPUTFILE_H

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nanobragg::io {

/// Bytes go to a temporary in the directory of the target; commit() renames it. Without commit()
/// the target stays as it was and the temporary is removed. A target that exists and is not a
/// regular file (a pipe, /dev/null) is written directly; a name of an open descriptor (/dev/stdout,
/// /dev/fd/3) means that descriptor, whatever it leads to. A symbolic link is followed, also to a
/// file that does not exist yet. Every failure throws FileError.
///
/// Temporaries that a killed process has left in the directory are removed when the next opens an
/// output there.
///
/// Opened before a long computation it reports a missing directory or a write-protected target
/// while nothing is lost yet.
class OutputFile {
public:
  explicit OutputFile(std::string path);
  /// An empty temporary beside a file that is written later, for example when a series ends: while
  /// it lives, no other run on this machine gets one for the same file. Throws FileError where
  /// another run has it. Nothing for what is not a regular file. Parts of a series claim by number.
  static OutputFile claim(const std::string &path, int part = 0);
  /// Throws FileError where `path` is named like an image of a series, NAME_01.EXT or
  /// NAME_panel0_01.EXT, and a run has claimed NAME.EXT or a part of it.
  static void refuseFrameOfOther(const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  void write(const void *data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  template <typename T>
  void write(std::span<const T> values) {
    write(values.data(), values.size_bytes());
  }

  /// Where the bytes of a regular file are before commit().
  std::string temporaryPath() const;
  /// Gives back the lock by which sweeps see that the temporary is in use, to who takes it anew.
  void unlock() const;
  /// A file of its own, with places for bytes, and not a pipe or a device?
  bool isRegular() const { return temporary != nullptr; }
  /// Asks for room of a regular file: so many bytes from its beginning, where the file system can
  /// promise it. Later writes then need no search for room, and no process waits for the disk
  /// when the file is renamed.
  void reserve(std::size_t bytes);
  /// Writes bytes at a place of a regular file, which several threads may write at a time. write()
  /// continues elsewhere: a file is written in the one way or in the other.
  void writeAt(std::size_t offset, const void *data, std::size_t bytes);

  /// Publishes what was written; nothing can be written afterwards.
  void commit();
  /// The same for a file that goes on growing: returns its open descriptor, which has the lock of
  /// the temporary.
  int commitLocked();

  const std::string &path() const { return name; }

  /// Removes the temporaries of all open outputs. Async-signal-safe: for a signal handler that is
  /// about to end the process.
  static void removeTemporaries() noexcept;

private:
  struct Temporary;
  OutputFile() = default;
  void createTemporary(const std::string &ending);
  void discard() noexcept;
  void putIntoPlace();
  [[noreturn]] void fail(const char *doing, int error);
  [[noreturn]] void refuse(const char *doing, int error) const; ///< fail() without ending the file

  std::string name;               ///< as the user gave it
  std::string target;             ///< with symbolic links followed
  Temporary *temporary = nullptr; ///< null when writing directly, or done
  int descriptor = -1;
};

} // namespace nanobragg::io
#endif
