#include "runtime/kernels/CacheDirectory.h"

#include "runtime/kernels/CacheEntry.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <tuple>

namespace nanobragg {
namespace {

constexpr const char *lockName = "lock";
constexpr std::string_view temporaryPrefix = ".new-";
/// Kernels and their programs, reflection lists and tuned schedules.
constexpr std::string_view entrySuffixes[] = {".so", ".mlir", ".hkl", ".schedule"};

[[noreturn]] void failWithErrno(const std::string &what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// The XDG rule: folders that are missing on the way belong to the user alone.
void createFolders(const std::filesystem::path &path) {
  std::filesystem::path folder;
  for (const auto &part : path) {
    folder /= part;
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST && errno != EISDIR) {
      const int reason = errno;
      if (std::error_code ignored; std::filesystem::is_directory(folder, ignored))
        continue; // a read-only file system says so even of folders that exist
      throw std::runtime_error("cannot create the kernel cache " + path.string() + ": " +
                               std::strerror(reason));
    }
  }
}

// Whatever else lies in a folder that the user named is the user's.

bool isEntry(std::string_view name) {
  constexpr std::size_t keyDigits = 32;
  return name.find_first_not_of("0123456789abcdef") == keyDigits &&
         std::ranges::find(entrySuffixes, name.substr(keyDigits)) != std::end(entrySuffixes);
}

bool isTemporary(std::string_view name) {
  return name.starts_with(temporaryPrefix) &&
         name.find_first_not_of("0123456789-", temporaryPrefix.size()) == name.npos;
}

bool after(const timespec &a, const timespec &b) {
  return std::tie(a.tv_sec, a.tv_nsec) > std::tie(b.tv_sec, b.tv_nsec);
}

timespec now() {
  timespec time;
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

bool writeAll(int fd, const std::string &bytes) {
  for (std::size_t done = 0; done != bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR)
      return false;
    done += std::size_t(std::max<ssize_t>(n, 0));
  }
  return true;
}

} // namespace

std::optional<CacheDirectory> CacheDirectory::open(const std::filesystem::path &path, bool create) {
  const auto tryOpen = [&] {
    return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  };
  FileDescriptor fd = tryOpen();
  if (!fd && errno == ENOENT) {
    if (!create)
      return std::nullopt;
    createFolders(path);
    fd = tryOpen();
  }
  const std::string name = "the kernel cache " + path.string();
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0)
    throw std::runtime_error("cannot open " + name + ": " + std::strerror(errno));
  if (status.st_uid != ::geteuid())
    throw std::runtime_error(name + " belongs to another user, who could put code into it; set "
                                    "NB_CACHE_DIR to a folder of your own");
  if (status.st_mode & (S_IRWXG | S_IRWXO))
    throw std::runtime_error(name + " is open to other users, who could put code into it; close "
                                    "it with chmod 700 and look at what it holds");
  return CacheDirectory(std::move(fd));
}

CacheDirectory::OpenFile CacheDirectory::openFile(const std::string &name) const {
  const auto failed = [] { return OpenFile{State::Failed, std::strerror(errno)}; };
  FileDescriptor file(
      ::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT)
      return {State::Missing};
    if (errno == ELOOP)
      return {State::Bad, "it is a symbolic link"};
    return failed();
  }
  struct stat status;
  if (::fstat(file.get(), &status) != 0)
    return failed();
  if (!S_ISREG(status.st_mode))
    return {State::Bad, "it is not a regular file"};
  if (status.st_uid != ::geteuid())
    return {State::Bad, "it belongs to another user"};
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return {State::Bad, "other users can write to it"};
  if (std::uint64_t(status.st_size) > mostEntryBytes)
    return {State::Bad, "it is too long to be a kernel"};
  return {State::Found, {}, std::move(file), std::uint64_t(status.st_size)};
}

bool CacheDirectory::OpenFile::read(void *to, std::size_t count, std::uint64_t from) const {
  for (std::size_t done = 0; done != count;) {
    const ssize_t n =
        ::pread(file.get(), static_cast<char *>(to) + done, count - done, off_t(from + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n == 0)
      errno = 0; // the file became shorter
    if (n <= 0)
      return false;
    done += std::size_t(n);
  }
  return true;
}

CacheDirectory::Reading CacheDirectory::read(const std::string &name) const {
  const OpenFile file = openFile(name);
  if (file.state != State::Found)
    return {file.state, {}, file.problem};
  Reading reading{State::Found, std::string(file.bytes, '\0')};
  if (file.read(reading.bytes.data(), reading.bytes.size(), 0))
    return reading;
  if (errno == 0)
    return {State::Bad, {}, "it became shorter while it was read"};
  return {State::Failed, {}, std::strerror(errno)};
}

FileDescriptor CacheDirectory::createTemporary(std::string &name) const {
  while (true) {
    const auto unique = std::chrono::steady_clock::now().time_since_epoch().count();
    name = std::string(temporaryPrefix) + std::to_string(::getpid()) + "-" + std::to_string(unique);
    FileDescriptor file(::openat(directory.get(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file)
      failWithErrno("cannot write");
    // Held until the file has its name: tells a sweep that its writer lives. A sweep may have
    // come between the two calls.
    ::flock(file.get(), LOCK_EX);
    struct stat status;
    if (::fstat(file.get(), &status) != 0 || status.st_nlink != 0)
      return file;
  }
}

void CacheDirectory::write(const std::string &name, const std::string &bytes) const {
  std::string temporary;
  const FileDescriptor file = createTemporary(temporary);
  if (!writeAll(file.get(), bytes) ||
      ::renameat(directory.get(), temporary.c_str(), directory.get(), name.c_str()) != 0) {
    const int reason = errno;
    remove(temporary);
    errno = reason;
    failWithErrno("cannot write");
  }
}

void CacheDirectory::remove(const std::string &name) const {
  ::unlinkat(directory.get(), name.c_str(), 0);
}

void CacheDirectory::touch(const std::string &name) const {
  ::utimensat(directory.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<std::string> CacheDirectory::names() const {
  // A descriptor of its own, since reading moves the position.
  const int fd = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR *)> listing(fd < 0 ? nullptr : ::fdopendir(fd),
                                                     ::closedir);
  if (!listing)
    failWithErrno("cannot list the kernel cache");
  std::vector<std::string> names;
  while (const dirent *item = ::readdir(listing.get()))
    names.emplace_back(item->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<CacheDirectory::File> CacheDirectory::entries() const {
  std::vector<File> files;
  for (const std::string &name : names()) {
    struct stat status;
    if (isEntry(name) &&
        ::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back({name, std::uint64_t(status.st_size), status.st_mtim});
  }
  return files;
}

void CacheDirectory::removeAbandoned(const std::string &temporary) const {
  const FileDescriptor file(
      ::openat(directory.get(), temporary.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
    remove(temporary);
}

void CacheDirectory::sweep(std::uint64_t mostBytes, const std::string &keep) const {
  for (const std::string &name : names())
    if (isTemporary(name))
      removeAbandoned(name);

  std::vector<File> files = entries();
  std::uint64_t total = 0;
  const timespec present = now();
  for (File &file : files) {
    total += file.bytes;
    // The clock was put back since. Left alone, such an entry would outlive all others.
    if (after(file.lastUse, present)) {
      file.lastUse = present;
      touch(file.name);
    }
  }
  std::sort(files.begin(), files.end(), [](const File &a, const File &b) {
    return std::tie(a.lastUse.tv_sec, a.lastUse.tv_nsec, a.name) <
           std::tie(b.lastUse.tv_sec, b.lastUse.tv_nsec, b.name);
  });
  for (const File &file : files) {
    if (total <= mostBytes)
      break;
    if (file.name == keep)
      continue;
    remove(file.name);
    total -= file.bytes;
  }
}

std::optional<FileDescriptor> CacheDirectory::lock(std::uint64_t number,
                                                   std::chrono::milliseconds wait) const {
  FileDescriptor file(
      ::openat(directory.get(), lockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file)
    return std::nullopt;
  // One byte of one empty file per number. An open-file-description lock ends with the descriptor,
  // so neither a crash nor a forgotten file can leave it behind.
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = off_t(number >> 2);
  range.l_len = 1;
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (::fcntl(file.get(), F_OFD_SETLK, &range) != 0) {
    if ((errno != EAGAIN && errno != EACCES && errno != EINTR) ||
        std::chrono::steady_clock::now() >= deadline)
      return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return file;
}

} // namespace nanobragg
