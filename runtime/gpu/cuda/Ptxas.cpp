#include "runtime/gpu/cuda/Ptxas.h"

#include "runtime/kernels/Environment.h"
#include "runtime/kernels/Refusal.h"

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace nanobragg::cuda {
namespace {

bool isProgram(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> folders() {
  std::vector<std::string> all;
  for (std::string_view path = environmentVariable("PATH"); !path.empty();) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    if (folder.starts_with('/'))
      all.emplace_back(folder);
  }
  if (const std::string_view home = environmentVariable("CUDA_HOME"); home.starts_with('/'))
    all.push_back(std::string(home) + "/bin");
  all.push_back("/usr/local/cuda/bin");
#ifdef NB_CUDA_BIN_DIR
  all.push_back(NB_CUDA_BIN_DIR); // of the toolkit that CMake found
#endif
  return all;
}

} // namespace

std::string findPtxas() {
  if (const std::string named(environmentVariable("NB_PTXAS")); !named.empty()) {
    if (named == "off")
      return "";
    if (!named.starts_with('/'))
      throw Refusal("NB_PTXAS names '" + named +
                    "'; name the program from the root folder on, as "
                    "/usr/local/cuda/bin/ptxas");
    if (!isProgram(named))
      throw std::runtime_error("NB_PTXAS names '" + named +
                               "', which is no program; name ptxas, "
                               "or say off to leave its work to the driver of the GPU");
    return named;
  }
  for (const std::string &folder : folders())
    if (const std::string path = folder + "/ptxas"; isProgram(path))
      return path;
  return "";
}

} // namespace nanobragg::cuda
