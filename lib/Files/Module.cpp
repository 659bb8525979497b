#include "lib/Files/Module.h"

#include "lib/Process/CodeFolders.h"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

namespace nanobragg::io {

const void *openModule(const char *file, const char *symbol, const char *reads) {
  const CodeSearch search = findCode(file);
  std::string reason;
  void *library = nullptr;
  if (search.found.empty()) {
    if (codeFolders().empty())
      reason = "it is not known where this program is (is /proc mounted?)";
    for (const std::filesystem::path &folder : codeFolders())
      reason += (reason.empty() ? "there is none in " : ", ") + folder.string();
    for (const std::string &refused : search.refused)
      reason += "; " + refused;
  } else {
    library = dlopen(search.found.front().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (const char *error = library ? nullptr : dlerror())
      reason = error;
  }
  const auto get = library ? reinterpret_cast<const void *(*)()>(dlsym(library, symbol)) : nullptr;
  if (library && !get)
    reason = "it has no " + std::string(symbol);
  if (!get)
    throw std::runtime_error(std::string(reads) + " need " + file + ", which cannot be opened: " +
                             reason + "; install the whole package, or build the target " +
                             std::string(file).substr(3, std::string(file).size() - 6));
  return get();
}

} // namespace nanobragg::io
