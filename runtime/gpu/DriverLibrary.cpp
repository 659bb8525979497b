#include "runtime/gpu/DriverLibrary.h"

#include "runtime/gpu/NoGpu.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace nanobragg::gpu {
namespace {

/// An empty or relative entry of LD_LIBRARY_PATH is a folder below the working directory, whose
/// files may be of other users.
void refuseFromWorkingDirectory(const std::string &file) {
  const char *const paths = std::getenv("LD_LIBRARY_PATH");
  std::error_code none;
  for (std::string left = paths && *paths ? paths : "/";;) {
    const std::size_t end = left.find_first_of(":;");
    const std::filesystem::path folder = left.substr(0, end);
    if (folder.is_relative() &&
        std::filesystem::exists(std::filesystem::path(".") / folder / file, none))
      throw NoGpu(file +
                  " is in the working directory, where LD_LIBRARY_PATH looks for it by the "
                  "entry '" +
                  folder.string() + "'; write folders there that begin with /");
    if (end == left.npos)
      return;
    left.erase(0, end + 1);
  }
}

} // namespace

DriverLibrary::DriverLibrary(std::initializer_list<const char *> files, const char *what,
                             const char *remedy) {
  for (const char *file : files)
    if (!handle) {
      refuseFromWorkingDirectory(file);
      handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
  if (handle)
    return;
  const char *reason = ::dlerror();
  throw NoGpu(std::string("there is no ") + what + " (" + (reason ? reason : *files.begin()) + ")" +
              remedy);
}

void *DriverLibrary::look(const char *symbol) const { return ::dlsym(handle, symbol); }

void *DriverLibrary::found(const char *symbol, const char *tooOld, const char *remedy) const {
  if (void *address = look(symbol))
    return address;
  throw NoGpu(std::string(tooOld) + " is too old: it has no " + symbol + remedy);
}

} // namespace nanobragg::gpu
