#include "lib/Process/TrustedPath.h"

#include <cerrno>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace nanobragg {
namespace {

/// Many systems give each user a group of the same name and let it write by default.
bool isOwnGroup(gid_t group) {
  std::vector<char> userText(1 << 14), groupText(1 << 16);
  passwd userEntry, *user = nullptr;
  struct group groupEntry, *members = nullptr;
  if (::getpwuid_r(::geteuid(), &userEntry, userText.data(), userText.size(), &user) != 0 ||
      !user || user->pw_gid != group ||
      ::getgrgid_r(group, &groupEntry, groupText.data(), groupText.size(), &members) != 0 ||
      !members || std::string_view(members->gr_name) != user->pw_name)
    return false;
  for (char **member = members->gr_mem; *member; ++member)
    if (std::string_view(*member) != user->pw_name)
      return false;
  return true;
}

/// Empty when there is nothing wrong.
std::string problemOf(const std::filesystem::path &part, bool last,
                      std::optional<uid_t> alsoTrusted) {
  struct stat status;
  if (::lstat(part.c_str(), &status) != 0)
    return part.string() + " cannot be looked at (" + std::strerror(errno) + ")";
  if (S_ISLNK(status.st_mode))
    return part.string() + " became a symbolic link meanwhile";
  if (status.st_uid != 0 && status.st_uid != ::geteuid() && status.st_uid != alsoTrusted)
    return part.string() + " belongs to another user";
  const bool sticky = !last && S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX);
  const bool others =
      (status.st_mode & S_IWOTH) || ((status.st_mode & S_IWGRP) && !isOwnGroup(status.st_gid));
  return others && !sticky ? "other users can write to " + part.string() : "";
}

} // namespace

TrustedPath trustPath(const std::filesystem::path &path, std::optional<uid_t> alsoTrusted) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  if (error)
    return {{}, path.string() + " cannot be looked at (" + error.message() + ")"};
  std::filesystem::path part;
  for (auto name = resolved.begin(); name != resolved.end(); ++name) {
    part /= *name;
    if (std::string problem = problemOf(part, std::next(name) == resolved.end(), alsoTrusted);
        !problem.empty())
      return {{}, std::move(problem)};
  }
  return {resolved, {}};
}

} // namespace nanobragg
