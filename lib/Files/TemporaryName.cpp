#include "lib/Files/TemporaryName.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nanobragg::io {
namespace {

constexpr std::string_view suffix = ".part";

/// Locks of other machines may not be seen here, so that each sweeps up after itself.
const std::string &prefix() {
  static const std::string text = [] {
    char host[HOST_NAME_MAX + 1] = "";
    ::gethostname(host, sizeof host - 1);
    return ".nb-" + std::string(host) + "-";
  }();
  return text;
}

/// PROCESS-NUMBER between prefix and suffix.
bool isTemporary(std::string_view name) {
  if (!name.starts_with(prefix()) || !name.ends_with(suffix))
    return false;
  name.remove_prefix(prefix().size());
  return name.size() > suffix.size() &&
         name.find_first_not_of("0123456789-") == name.size() - suffix.size();
}

void removeIfAbandoned(int folder, const char *name) {
  const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat status;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
      ::flock(file, LOCK_EX | LOCK_NB) == 0)
    ::unlinkat(folder, name, 0);
  ::close(file);
}

using Listing = std::unique_ptr<DIR, int (*)(DIR *)>;

Listing listingOf(const std::string &directory) {
  return Listing(::opendir(directory.empty() ? "." : directory.c_str()), ::closedir);
}

bool isHeld(int folder, const char *name) {
  const int file = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const bool held = file >= 0 && ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (file >= 0)
    ::close(file);
  return held;
}

} // namespace

std::string newTemporaryName(const std::string &ending) {
  static std::atomic<unsigned> serial{0};
  return prefix() + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ending +
         std::string(suffix);
}

bool isTemporaryHeld(const std::string &directory, const std::string &piece) {
  const Listing listing = listingOf(directory);
  while (const dirent *entry = listing ? ::readdir(listing.get()) : nullptr)
    if (isTemporary(entry->d_name) &&
        std::string_view(entry->d_name).find(piece) != std::string_view::npos &&
        isHeld(::dirfd(listing.get()), entry->d_name))
      return true;
  return false;
}

bool holdTemporary(int descriptor) {
  // A sweep that has the lock at this moment is about to remove the file. A file system without
  // locks does not let a sweep have one either.
  while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status;
  return ::fstat(descriptor, &status) != 0 || status.st_nlink != 0;
}

void sweepTemporaries(const std::string &directory) {
  static std::mutex mutex;
  static std::set<std::string> swept;
  {
    const std::lock_guard lock(mutex);
    if (!swept.insert(directory).second)
      return;
  }
  const Listing listing = listingOf(directory);
  if (!listing)
    return;
  // A folder of very many images is not read to its end for the sake of tidiness.
  constexpr int mostEntries = 20000;
  for (int i = 0; i != mostEntries; ++i) {
    const dirent *entry = ::readdir(listing.get());
    if (!entry)
      break;
    if (isTemporary(entry->d_name))
      removeIfAbandoned(::dirfd(listing.get()), entry->d_name);
  }
}

} // namespace nanobragg::io
