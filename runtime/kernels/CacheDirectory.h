// Files that only their owner can write.
//
// The kernel cache keeps its files here. Loading a kernel runs its code, so the directory
// is refused unless it belongs to the effective user alone. It is opened once, checked
// through the open descriptor, and every file is reached relative to that: whoever can rename a
// folder above it can make the cache unavailable but not slip a kernel in.
#ifndef NANOBRAGG_RUNTIME_CACHEDIRECTORY_H
#define NANOBRAGG_RUNTIME_CACHEDIRECTORY_H

#include "runtime/kernels/FileDescriptor.h"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

class CacheDirectory {
public:
  /// Nothing when the directory does not exist and is not to be created. Throws std::runtime_error
  /// when it cannot be used.
  static std::optional<CacheDirectory> open(const std::filesystem::path &path, bool create);

  enum class State {
    Missing,
    Found,
    Bad,    ///< there is something that can be no entry
    Failed, ///< an I/O error: nothing is known about the content
  };
  struct Reading {
    State state;
    std::string bytes{};
    std::string problem{};
  };
  Reading read(const std::string &name) const;

  /// An entry that only the user can have written.
  struct OpenFile {
    State state;
    std::string problem{};
    FileDescriptor file{};
    std::uint64_t bytes = 0;
    /// Copies bytes from a position on; false with errno where they cannot be had.
    bool read(void *to, std::size_t count, std::uint64_t from) const;
  };
  OpenFile openFile(const std::string &name) const;

  /// Replaces the file at once; other processes see the old content, none, or the new one. Throws
  /// std::system_error and leaves nothing behind. It does not wait for the disk: what a power
  /// failure leaves half-written has a wrong checksum.
  void write(const std::string &name, const std::string &bytes) const;

  void remove(const std::string &name) const;

  /// Records that a file was used now.
  void touch(const std::string &name) const;

  struct File {
    std::string name;
    std::uint64_t bytes;
    timespec lastUse;
  };
  /// Entries by name. Throws std::system_error.
  std::vector<File> entries() const;

  /// Removes what killed processes left, then the least recently used entries until the others
  /// have `mostBytes` together; `keep` stays.
  void sweep(std::uint64_t mostBytes, const std::string &keep) const;

  /// Makes other processes and threads that ask for the same number wait until the result is
  /// destroyed or its process dies. Nothing when it took too long or cannot be had.
  std::optional<FileDescriptor> lock(std::uint64_t number, std::chrono::milliseconds wait) const;

private:
  explicit CacheDirectory(FileDescriptor fd) : directory(std::move(fd)) {}

  std::vector<std::string> names() const;
  FileDescriptor createTemporary(std::string &name) const;
  void removeAbandoned(const std::string &temporary) const;

  FileDescriptor directory;
};

} // namespace nanobragg
#endif
