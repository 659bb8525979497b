#include "runtime/kernels/KernelFile.h"

#include "lib/Parallel/ProcessMutex.h"
#include "lib/Process/Environment.h"
#include "lib/Process/Refusal.h"
#include "lib/Trace/Trace.h"
#include "runtime/kernels/FileDescriptor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
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

void writeImage(const FileDescriptor &file, std::span<const char> image) {
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
  writeImage(memory, image);
  return memory;
}

/// A file in a new folder that no other user can enter. Both are gone when this is, unless they are
/// to stay.
struct PrivateFile {
  PrivateFile(std::span<const char> image, const std::string &parent, bool stays = false)
      : folder(parent + "/nanobragg-XXXXXX"), stays(stays) {
    if (!::mkdtemp(folder.data()))
      cannotLoad((folder + ": " + std::strerror(errno)).c_str());
    path = folder + "/kernel.so";
    try {
      const FileDescriptor file(
          ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700));
      if (!file)
        cannotLoad((path + ": " + std::strerror(errno)).c_str());
      writeImage(file, image);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~PrivateFile() {
    if (!stays)
      remove();
  }
  PrivateFile(const PrivateFile &) = delete;
  PrivateFile &operator=(const PrivateFile &) = delete;

  void remove() const {
    ::unlink(path.c_str());
    ::rmdir(folder.c_str());
  }

  std::string folder, path;
  bool stays;
};

void *open(const std::string &name) { return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }

/// A file that stays in the folder that NB_KERNEL_FILES names.
void *openKept(std::span<const char> image, const std::string &folder) {
  if (!folder.starts_with('/'))
    throw Refusal("NB_KERNEL_FILES names '" + folder +
                  "'; give an absolute path, such as /tmp/kernels");
  try {
    return open(PrivateFile(image, folder, /*stays=*/true).path);
  } catch (const std::runtime_error &error) {
    throw Refusal("NB_KERNEL_FILES: " + std::string(error.what()) +
                  "; name a folder that exists and that you can write to");
  }
}

void *openLibrary(const FileDescriptor &memory, std::span<const char> image) {
  if (keepsKernelFiles())
    return openKept(image, std::string(environmentVariable("NB_KERNEL_FILES")));
  // Not /proc/self: a debugger opens the name, too, and has descriptors of its own. Not getpid():
  // /proc may be that of another namespace. A root folder without /proc has no name for the memory.
  char process[32];
  const ssize_t length = ::readlink("/proc/self", process, sizeof(process));
  if (length <= 0) {
    const char *temporary = std::getenv("TMPDIR");
    return open(PrivateFile(image, temporary && *temporary ? temporary : "/tmp").path);
  }
  const std::string name =
      "/proc/" + std::string(process, std::size_t(length)) + "/fd/" + std::to_string(memory.get());
  return open(name);
}

struct Mapping;

/// The kernels of this process, by where they begin.
struct Loaded {
  ProcessMutex mutex;
  std::map<const void *, const Mapping *> mappings;

  static Loaded &ofProcess() {
    static Loaded &loaded = *new Loaded;
    return loaded;
  }
};

/// Where the library begins that an address is in.
const void *beginOf(const void *address) {
  Dl_info library;
  return ::dladdr(address, &library) ? library.dli_fbase : nullptr;
}

/// A loaded shared object. The descriptor stays open as long: the dynamic loader takes two files
/// of one name for the same, and the name is the descriptor's number.
struct Mapping {
  explicit Mapping(std::span<const char> image)
      : memory(copyToMemory(image)), library(openLibrary(memory, image)) {
    if (!library)
      cannotLoad(::dlerror());
  }
  ~Mapping() {
    {
      const std::lock_guard lock(Loaded::ofProcess().mutex);
      Loaded::ofProcess().mappings.erase(begin);
    }
    ::dlclose(library);
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;

  void knowBegin(const void *code) {
    begin = beginOf(code);
    const std::lock_guard lock(Loaded::ofProcess().mutex);
    Loaded::ofProcess().mappings[begin] = this;
  }

  FileDescriptor memory;
  void *library;
  const void *begin = nullptr;
};

} // namespace

KernelHandle loadKernel(std::span<const char> image) {
  const trace::Span span("cache", "load the kernel");
  const auto mapping = std::make_shared<Mapping>(image);
  const auto get =
      reinterpret_cast<GetDescriptor *>(::dlsym(mapping->library, "nb_kernel_get_descriptor"));
  const nb_kernel_descriptor *descriptor = get ? get() : nullptr;
  if (!descriptor)
    throw std::runtime_error("the shared object holds no kernel: it has no "
                             "nb_kernel_get_descriptor");
  checkDescriptor(*descriptor);
  mapping->knowBegin(descriptor);
  return KernelHandle(mapping, descriptor);
}

bool keepsKernelFiles() { return !environmentVariable("NB_KERNEL_FILES").empty(); }

const void *kernelAt(const void *address) {
  const void *begin = beginOf(address);
  const std::lock_guard lock(Loaded::ofProcess().mutex);
  return Loaded::ofProcess().mappings.contains(begin) ? begin : nullptr;
}

std::vector<char> imageOfKernel(const void *begin) {
  const std::lock_guard lock(Loaded::ofProcess().mutex);
  const auto found = Loaded::ofProcess().mappings.find(begin);
  if (found == Loaded::ofProcess().mappings.end())
    return {};
  const int memory = found->second->memory.get();
  std::vector<char> image(std::size_t(::lseek(memory, 0, SEEK_END)));
  for (std::size_t done = 0; done != image.size();) {
    const ssize_t n = ::pread(memory, image.data() + done, image.size() - done, off_t(done));
    if (n <= 0 && errno != EINTR)
      cannotLoad(std::strerror(errno));
    done += n > 0 ? std::size_t(n) : 0;
  }
  return image;
}

} // namespace nanobragg
