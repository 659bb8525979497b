// An open file that closes itself.
#ifndef NANOBRAGG_RUNTIME_FILEDESCRIPTOR_H
#define NANOBRAGG_RUNTIME_FILEDESCRIPTOR_H

#include <unistd.h>
#include <utility>

namespace nanobragg {

class FileDescriptor {
public:
  explicit FileDescriptor(int fd = -1) : fd(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~FileDescriptor() {
    if (fd >= 0)
      ::close(fd);
  }

  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

} // namespace nanobragg
#endif
