#include "lib/Files/MemoryLimit.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace nanobragg::io {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limitIn(const std::string &file) {
  std::ifstream stream(file);
  std::string word;
  if (!(stream >> word))
    return none;
  std::uint64_t bytes = none; // the word is "max" where there is no limit
  std::from_chars(word.data(), word.data() + word.size(), bytes);
  return bytes;
}

std::uint64_t limitOfResource(int resource) {
  rlimit limit;
  return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                               : none;
}

/// The limit of both versions of control groups. A container sees its own group as the root.
std::uint64_t limitOfGroups() {
  std::uint64_t least = none;
  std::ifstream groups("/proc/self/cgroup");
  // "0::/user.slice/..." or "9:memory:/..."
  for (std::string line; std::getline(groups, line);) {
    const std::size_t kind = line.find(':'), path = line.find(':', kind + 1);
    if (kind == line.npos || path == line.npos)
      continue;
    const std::string controllers = line.substr(kind + 1, path - kind - 1);
    if (controllers.empty())
      least = std::min(least, memoryLimitOfGroup("/sys/fs/cgroup", line.substr(path + 1)));
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      least = std::min(least, memoryLimitOfGroup("/sys/fs/cgroup/memory", line.substr(path + 1)));
  }
  return least;
}

} // namespace

std::uint64_t memoryLimitOfGroup(const std::string &mount, const std::string &group) {
  // Not by std::filesystem::path: where memory runs out, its /= of libstdc++ 12 frees twice.
  std::uint64_t least = none;
  std::string below = group.starts_with('/') || group.empty() ? group : "/" + group;
  while (true) {
    for (const char *file : {"/memory.max", "/memory.limit_in_bytes"})
      least = std::min(least, limitIn(mount + below + file));
    if (below.empty())
      return least;
    below.resize(below.rfind('/'));
  }
}

std::uint64_t memoryLimit() {
  const auto machine =
      std::uint64_t(::sysconf(_SC_PHYS_PAGES)) * std::uint64_t(::sysconf(_SC_PAGESIZE));
  return std::min(
      {machine, limitOfResource(RLIMIT_AS), limitOfResource(RLIMIT_DATA), limitOfGroups()});
}

std::string sizeText(double bytes) {
  char text[32];
  if (bytes >= 1e9)
    std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  else
    std::snprintf(text, sizeof text, "%.1f MB", bytes / 1e6);
  return text;
}

} // namespace nanobragg::io
