#include "lib/Target/Assembler.h"

#include "lib/Process/Environment.h"
#include "lib/Process/Refusal.h"
#include "lib/Target/GpuVendor.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace nanobragg::gpu {
namespace {

bool isProgram(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> foldersFor(const GpuVendor &vendor) {
  std::vector<std::string> all;
  for (std::string_view path = environmentVariable("PATH"); !path.empty();) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    if (folder.starts_with('/'))
      all.emplace_back(folder);
  }
  if (const std::string_view home =
          environmentVariable(std::string(vendor.toolkitVariable).c_str());
      home.starts_with('/'))
    all.push_back(std::string(home) + "/bin");
  all.emplace_back(vendor.toolkitFolder);
  if (!vendor.toolkitFound.empty())
    all.emplace_back(vendor.toolkitFound);
  return all;
}

} // namespace

std::string findAssembler(std::string_view chip) {
  const GpuVendor *vendor = vendorOfChip(chip);
  if (!vendor || vendor->assembler.empty())
    return "";
  const std::string variable(vendor->assemblerVariable), program(vendor->assembler);
  if (const std::string named(environmentVariable(variable.c_str())); !named.empty()) {
    if (named == "off")
      return "";
    if (!named.starts_with('/'))
      throw Refusal(variable + " names '" + named + "'; give an absolute path, such as " +
                    std::string(vendor->toolkitFolder) + "/" + program);
    if (!isProgram(named))
      throw std::runtime_error(variable + " names '" + named + "', which is not a program; name " +
                               program + ", or off, to leave its work to the driver of the GPU");
    return named;
  }
  for (const std::string &folder : foldersFor(*vendor))
    if (const std::string path = folder + "/" + program; isProgram(path))
      return path;
  return "";
}

} // namespace nanobragg::gpu
