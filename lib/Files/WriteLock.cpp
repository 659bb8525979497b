#include "lib/Files/WriteLock.h"

#include "lib/Files/FileError.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nanobragg::io {

void refuseSecondRun(const std::string &path) {
  throw FileError(path, "is being written by another run; wait until that has ended, or give the "
                        "outputs of this one other names");
}

namespace {

bool isTaken(int descriptor, int kind) {
  int status = 0;
  do
    status = ::flock(descriptor, kind | LOCK_NB);
  while (status != 0 && errno == EINTR);
  return status != 0 && errno == EWOULDBLOCK;
}

bool isAt(int descriptor, const std::string &path) {
  struct stat open{}, named{};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

} // namespace

WriteLock &WriteLock::operator=(WriteLock &&other) noexcept {
  std::swap(path, other.path);
  std::swap(descriptor, other.descriptor);
  std::swap(created, other.created);
  return *this;
}

WriteLock::~WriteLock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

WriteLock WriteLock::take(const std::string &path, Missing missing) {
  while (true) {
    WriteLock lock(path, ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK));
    if (lock.descriptor < 0 && errno == ENOENT && missing == Missing::isMade) {
      lock.descriptor =
          ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
      if (lock.descriptor < 0 && errno == EEXIST)
        continue;
      lock.created = true;
    }
    if (lock.descriptor < 0)
      throw FileError(path, std::string("cannot be written: ") + std::strerror(errno));
    struct stat status{};
    if (::fstat(lock.descriptor, &status) == 0 && !S_ISREG(status.st_mode))
      throw FileError(path, "is not a regular file; give the name of a file");
    if (isTaken(lock.descriptor, LOCK_EX))
      refuseSecondRun(path);
    // Another run may have removed or replaced it before it was locked.
    if (isAt(lock.descriptor, path))
      return lock;
  }
}

void WriteLock::refuseIfTaken(const std::string &path) {
  const WriteLock lock(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (lock.descriptor >= 0 && isTaken(lock.descriptor, LOCK_SH))
    refuseSecondRun(path);
}

void WriteLock::unlock() const { ::flock(descriptor, LOCK_UN); }

void WriteLock::requireName() const {
  if (descriptor >= 0 && !isAt(descriptor, path))
    throw FileError(path, "was removed or replaced while this run wrote it; run it again, and give "
                          "each run names of its own");
}

} // namespace nanobragg::io
