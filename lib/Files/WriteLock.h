// A file that one run at a time writes.
#ifndef NANOBRAGG_FILES_WRITELOCK_H
#define NANOBRAGG_FILES_WRITELOCK_H

#include <string>
#include <utility>

namespace nanobragg::io {

/// Throws the FileError of a file that another run writes.
[[noreturn]] void refuseSecondRun(const std::string &path);

/// The lock of a file that grows while a run goes on. It ends with this object, or with the process
/// that has it. On a file system without locks, each process has one.
class WriteLock {
public:
  WriteLock() = default;
  /// `descriptor`, which becomes this object's, has the lock of the file at `path`.
  WriteLock(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  WriteLock(WriteLock &&other) noexcept
      : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
        created(other.created) {}
  WriteLock &operator=(WriteLock &&other) noexcept;
  ~WriteLock();

  enum class Missing { isError, isMade };
  /// Changes nothing in a file that is there. Throws FileError where another run has the lock.
  static WriteLock take(const std::string &path, Missing missing);
  /// Throws FileError where a run has the lock of a file; one that is not there has none.
  static void refuseIfTaken(const std::string &path);

  /// Did take() make the file?
  bool made() const { return created; }
  /// Open for reading and for writing at the end.
  int file() const { return descriptor; }
  /// Gives the lock back and keeps the file open.
  void unlock() const;
  /// Throws FileError where the name leads to another file by now: what is written would be lost.
  void requireName() const;

private:
  std::string path;
  int descriptor = -1;
  bool created = false;
};

} // namespace nanobragg::io
#endif
