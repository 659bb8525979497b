#include "lib/Files/OutputPath.h"

#include <charconv>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace nanobragg::io {

namespace fs = std::filesystem;

namespace {

constexpr int mostLinks = 40; // as Linux

/// Where a link leads; empty: it is none.
fs::path targetOf(const fs::path &link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  return error ? fs::path() : link.parent_path() / target;
}

fs::path canonicalFolder(const fs::path &file) {
  std::error_code error;
  const fs::path folder = fs::canonical(file.has_parent_path() ? file.parent_path() : ".", error);
  return error ? fs::path() : folder;
}

} // namespace

int descriptorNamedBy(const std::string &path) {
  const fs::path descriptors = "/proc/" + std::to_string(::getpid()) + "/fd";
  fs::path file = path;
  for (int i = 0; i != mostLinks && !file.empty(); ++i, file = targetOf(file)) {
    if (canonicalFolder(file) != descriptors)
      continue;
    const std::string name = file.filename().string();
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size() ? number : -1;
  }
  return -1;
}

std::string followLinks(const std::string &path) {
  std::error_code error;
  if (fs::path resolved = fs::canonical(path, error); !error)
    return resolved.string();
  fs::path file = path;
  for (int i = 0; i != mostLinks; ++i) {
    const fs::path next = targetOf(file);
    if (next.empty())
      return file.string();
    file = next;
  }
  return path; // the links go in a circle, which opening the file will say
}

std::string directoryOf(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

} // namespace nanobragg::io
