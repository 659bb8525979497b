#include "runtime/kernels/KernelFolders.h"

#include "runtime/kernels/CacheEntry.h"

#include <cstdlib>
#include <string_view>

namespace nanobragg {

namespace fs = std::filesystem;

std::string kernelFileName(const KernelRequest &request) {
  const std::string where = request.isForGpu()               ? "gpu"
                            : request.target == "gpu-on-cpu" ? "gpu-on-cpu"
                                                             : "cpu";
  return where + "-" +
         keyOf("precision: " + request.precision + "\nvariant: " + request.variant +
               "\nderivative: " + (request.hasDerivative() ? request.derivative : "none") + "\n") +
         ".so";
}

std::vector<fs::path> kernelFolders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const auto add = [&](const fs::path &folder) {
    if (!folder.empty() && fs::is_directory(folder, ignored))
      folders.push_back(folder);
  };
  if (const char *named = std::getenv("NB_KERNEL_PATH")) {
    for (std::string_view rest = named; !rest.empty();) {
      const std::size_t colon = rest.find(':');
      add(rest.substr(0, colon));
      rest.remove_prefix(colon == rest.npos ? rest.size() : colon + 1);
    }
    return folders;
  }
  if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !program.empty())
    add(program.parent_path().parent_path() / "lib" / "nanobragg" / "kernels");
  return folders;
}

fs::path findKernelFile(const KernelRequest &request) {
  const std::vector<fs::path> folders = kernelFolders();
  if (folders.empty())
    return {};
  const std::string name = kernelFileName(request);
  std::error_code ignored;
  for (const fs::path &folder : folders)
    if (fs::exists(folder / name, ignored))
      return folder / name;
  return {};
}

} // namespace nanobragg
