#include "runtime/kernels/KernelFolders.h"

#include "lib/Process/CodeFolders.h"
#include "lib/Process/Environment.h"
#include "lib/Process/Refusal.h"
#include "runtime/kernels/CacheEntry.h"

#include <string_view>

namespace nanobragg {

namespace fs = std::filesystem;

std::string kernelFileName(const KernelRequest &request) {
  const bool twin = request.target.kind == KernelTarget::Kind::GpuOnCpu;
  const std::string where = request.isForGpu() ? "gpu" : twin ? "gpu-on-cpu" : "cpu";
  return where + "-" +
         keyOf("precision: " + toString(request.precision) +
               "\nvariant: " + request.variant.toString() + // kernels with any --cull may do
               "\nderivative: " + request.derivative.toString() + "\n") +
         ".so";
}

static constexpr const char *installedFolder = "nanobragg/kernels";

/// The existing folders of a list. A relative name, which depends on where one starts, is refused.
static std::vector<fs::path> namedFolders(std::string_view path) {
  std::vector<fs::path> folders;
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const fs::path folder = path.substr(0, colon);
    path.remove_prefix(colon == path.npos ? path.size() : colon + 1);
    if (!folder.empty() && !folder.is_absolute())
      throw Refusal("NB_KERNEL_PATH has the folder '" + folder.string() +
                    "'; give absolute paths, such as /home/me/kernels");
    if (std::error_code ignored; !folder.empty() && fs::is_directory(folder, ignored))
      folders.push_back(folder);
  }
  return folders;
}

fs::path findKernelFile(const KernelRequest &request) {
  std::error_code ignored;
  const std::string name = kernelFileName(request);
  if (const std::string_view named = environmentVariable("NB_KERNEL_PATH"); !named.empty()) {
    for (const fs::path &folder : namedFolders(named))
      if (fs::exists(folder / name, ignored))
        return folder / name;
    return {};
  }
  const std::vector<fs::path> installed = findCode(fs::path(installedFolder) / name).found;
  return installed.empty() ? fs::path() : installed.front();
}

} // namespace nanobragg
