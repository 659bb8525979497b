#include "runtime/kernels/KernelFile.h"

#include "runtime/kernels/FileDescriptor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace nanobragg {
namespace {

using GetDescriptor = const nb_kernel_descriptor *();

[[noreturn]] void cannotLoad(const char *reason) {
  throw std::runtime_error(std::string("cannot load a kernel: ") +
                           (reason ? reason : "unknown reason"));
}

void writeAll(const FileDescriptor &file, std::span<const char> image) {
  for (std::size_t done = 0; done != image.size();) {
    const ssize_t n = ::write(file.get(), image.data() + done, image.size() - done);
    if (n <= 0 && errno != EINTR)
      cannotLoad(std::strerror(errno));
    done += n > 0 ? std::size_t(n) : 0;
  }
}

FileDescriptor copyToMemory(std::span<const char> image) {
  FileDescriptor memory(::memfd_create("nanobragg-kernel", MFD_CLOEXEC));
  if (!memory)
    cannotLoad(std::strerror(errno));
  writeAll(memory, image);
  return memory;
}

/// A file in a folder that no other user can enter. Both are gone when this is.
struct PrivateFile {
  explicit PrivateFile(std::span<const char> image) {
    const char *temporary = std::getenv("TMPDIR");
    folder = std::string(temporary && *temporary ? temporary : "/tmp") + "/nanobragg-XXXXXX";
    if (!::mkdtemp(folder.data()))
      cannotLoad((folder + ": " + std::strerror(errno)).c_str());
    path = folder + "/kernel.so";
    try {
      const FileDescriptor file(
          ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700));
      if (!file)
        cannotLoad((path + ": " + std::strerror(errno)).c_str());
      writeAll(file, image);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~PrivateFile() { remove(); }
  PrivateFile(const PrivateFile &) = delete;
  PrivateFile &operator=(const PrivateFile &) = delete;

  void remove() const {
    ::unlink(path.c_str());
    ::rmdir(folder.c_str());
  }

  std::string folder, path;
};

void *openLibrary(const FileDescriptor &memory, std::span<const char> image) {
  // A root folder without /proc has no name for the memory.
  if (::access("/proc/self/fd", F_OK) != 0)
    return ::dlopen(PrivateFile(image).path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return ::dlopen(("/proc/self/fd/" + std::to_string(memory.get())).c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// A loaded shared object. The descriptor stays open as long: the dynamic loader takes two files
/// of one name for the same, and the name is the descriptor's number.
struct Mapping {
  explicit Mapping(std::span<const char> image)
      : memory(copyToMemory(image)), library(openLibrary(memory, image)) {
    if (!library)
      cannotLoad(::dlerror());
  }
  ~Mapping() { ::dlclose(library); }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  FileDescriptor memory;
  void *library;
};

} // namespace

KernelHandle loadKernel(std::span<const char> image) {
  const auto mapping = std::make_shared<const Mapping>(image);
  const auto get =
      reinterpret_cast<GetDescriptor *>(::dlsym(mapping->library, "nb_kernel_get_descriptor"));
  const nb_kernel_descriptor *descriptor = get ? get() : nullptr;
  if (!descriptor)
    throw std::runtime_error("the shared object holds no kernel: it has no "
                             "nb_kernel_get_descriptor");
  checkDescriptor(*descriptor);
  return KernelHandle(mapping, descriptor);
}

} // namespace nanobragg
