#include "runtime/kernels/KernelFile.h"

#include "runtime/kernels/FileDescriptor.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>

namespace nanobragg {
namespace {

using GetDescriptor = const nb_kernel_descriptor *();

FileDescriptor copyToMemory(std::span<const char> image) {
  FileDescriptor memory(::memfd_create("nanobragg-kernel", MFD_CLOEXEC));
  if (!memory)
    throw std::runtime_error(std::string("cannot load a kernel: ") + std::strerror(errno));
  for (std::size_t done = 0; done != image.size();) {
    const ssize_t n = ::write(memory.get(), image.data() + done, image.size() - done);
    if (n <= 0 && errno != EINTR)
      throw std::runtime_error(std::string("cannot load a kernel: ") + std::strerror(errno));
    done += n > 0 ? std::size_t(n) : 0;
  }
  return memory;
}

/// A loaded shared object. The descriptor stays open as long: the dynamic loader takes two files
/// of one name for the same, and the name is the descriptor's number.
struct Mapping {
  explicit Mapping(std::span<const char> image)
      : memory(copyToMemory(image)),
        library(::dlopen(("/proc/self/fd/" + std::to_string(memory.get())).c_str(),
                         RTLD_NOW | RTLD_LOCAL)) {
    if (!library) {
      const char *reason = ::dlerror();
      throw std::runtime_error(std::string("cannot load a kernel: ") +
                               (reason ? reason : "unknown reason"));
    }
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
