#include "runtime/gpu/DriverLibrary.h"

#include "runtime/gpu/NoGpu.h"

#include <dlfcn.h>

namespace nanobragg::gpu {

DriverLibrary::DriverLibrary(std::initializer_list<const char *> files, const char *what,
                             const char *remedy) {
  for (const char *file : files)
    if (!handle)
      handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
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
