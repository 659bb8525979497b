#include "lib/Files/OutputFile.h"

#include "lib/Files/FileError.h"
#include "lib/Files/OutputPath.h"
#include "lib/Files/TemporaryName.h"
#include "lib/Files/WriteLock.h"
#include "lib/Trace/Trace.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nanobragg::io {

/// One slot of the list that removeTemporaries walks. Slots are reused and never freed, and their
/// state changes hands atomically, so that a signal handler needs no lock.
struct OutputFile::Temporary {
  enum State { free, busy, live, removed };
  std::atomic<State> state{busy};
  char path[PATH_MAX] = "";
  Temporary *next = nullptr;

  static std::atomic<Temporary *> first;

  /// A live slot with this path.
  static Temporary *claim(const std::string &path);

  /// Deletes the file unless that has been done.
  void remove(State afterwards) noexcept {
    State expected = live;
    if (state.compare_exchange_strong(expected, busy)) {
      ::unlink(path);
      state = afterwards;
    } else if (expected == removed) {
      state = afterwards;
    }
  }
};

std::atomic<OutputFile::Temporary *> OutputFile::Temporary::first{nullptr};

OutputFile::Temporary *OutputFile::Temporary::claim(const std::string &path) {
  Temporary *slot = first;
  for (; slot; slot = slot->next) {
    State expected = free;
    if (slot->state.compare_exchange_strong(expected, busy))
      break;
  }
  if (!slot) {
    slot = new Temporary;
    slot->next = first;
    while (!first.compare_exchange_weak(slot->next, slot)) {
    }
  }
  slot->path[path.copy(slot->path, sizeof slot->path - 1)] = '\0';
  slot->state = live;
  return slot;
}

namespace {

std::mutex targetsMutex;
std::vector<std::string> openTargets;

struct LockDescriptor {
  int number;
  ~LockDescriptor() {
    if (number >= 0)
      ::close(number);
  }
};

bool claimTarget(const std::string &target) {
  const std::lock_guard lock(targetsMutex);
  if (std::find(openTargets.begin(), openTargets.end(), target) != openTargets.end())
    return false;
  openTargets.push_back(target);
  return true;
}

void releaseTarget(const std::string &target) {
  const std::lock_guard lock(targetsMutex);
  std::erase(openTargets, target);
}

/// So that of runs that look at the same moment the second sees what the first has made. Where
/// there are no locks, or somebody else has this one, there is none.
LockDescriptor lockFolder(const std::string &folder) {
  LockDescriptor lock{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC)};
  constexpr int mostTries = 1000;
  for (int i = 0; i != mostTries && ::flock(lock.number, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      break;
    ::usleep(1000);
  }
  return lock;
}

/// Removes digits at the end and what stands before them; false where that is something else.
bool cutNumber(std::string &text, std::string_view before) {
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  if (digits == text.size() || !std::string_view(text).substr(0, digits).ends_with(before))
    return false;
  text.resize(digits - before.size());
  return true;
}

/// The common part of the names of temporaries that claim a file of this name.
std::string claimOf(const std::string &name) {
  return "-" + std::to_string(std::hash<std::string>()(name)) + "-";
}

const char *remedyFor(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return "create its directory first";
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return "make room on the disk or choose another directory";
  case EISDIR:
  case ELOOP:
    return "give the name of a file";
  case EACCES:
  case EPERM:
  case EROFS:
    return "check the permissions or choose another directory";
  default:
    return "choose another file";
  }
}

} // namespace

void OutputFile::fail(const char *doing, int error) {
  discard();
  refuse(doing, error);
}

void OutputFile::refuse(const char *doing, int error) const {
  throw FileError(name, std::string("cannot be ") + doing + " (" + std::strerror(error) + "); " +
                            remedyFor(error));
}

OutputFile::OutputFile(std::string path) : name(std::move(path)), target(followLinks(name)) {
  struct stat status{};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (!exists && errno == ELOOP)
    fail("opened", ELOOP);
  // /dev/stdout is what the process has open there, at its place in it: opened anew, a log that the
  // shell appends to would be overwritten from its beginning.
  if (const int open = descriptorNamedBy(name); open >= 0) {
    descriptor = ::fcntl(open, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0)
      fail("opened", errno);
    return;
  }
  // Renaming over a device or a pipe would replace it.
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
      fail("opened", errno);
    return;
  }
  if (name.empty() || name.ends_with('/'))
    fail("opened", EISDIR);
  // rename() does not ask whether the file it replaces is write-protected.
  if (exists && ::access(target.c_str(), W_OK) != 0)
    fail("opened", errno);
  if (!claimTarget(target))
    throw FileError(name, "is the name of two outputs; give each its own");

  sweepTemporaries(directoryOf(target));
  try {
    createTemporary("");
  } catch (const FileError &) {
    releaseTarget(target);
    throw;
  }
  // Keeping the mode of the file that is replaced is a courtesy that some file systems refuse.
  if (exists)
    (void)!::fchmod(descriptor, status.st_mode & 07777);
}

OutputFile OutputFile::claim(const std::string &path, int part) {
  OutputFile claim;
  claim.name = path;
  const std::string target = followLinks(path), folder = directoryOf(target);
  struct stat status{};
  if (descriptorNamedBy(path) >= 0 ||
      (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)))
    return claim;
  sweepTemporaries(folder);
  const LockDescriptor lock = lockFolder(folder);
  const std::string ending = claimOf(target.substr(folder.size())) + std::to_string(part) + "-";
  if (isTemporaryHeld(folder, ending))
    refuseSecondRun(path);
  claim.target = folder; // which is in use by no output
  claim.createTemporary(ending);
  return claim;
}

void OutputFile::refuseFrameOfOther(const std::string &path) {
  const std::string target = followLinks(path), folder = directoryOf(target);
  const std::filesystem::path frame(target);
  std::string stem = frame.stem().string();
  if (!cutNumber(stem, "_"))
    return;
  cutNumber(stem, "_panel");
  if (isTemporaryHeld(folder, claimOf(stem + frame.extension().string())))
    refuseSecondRun(path);
}

void OutputFile::createTemporary(const std::string &ending) {
  do {
    const std::string part = directoryOf(target) + newTemporaryName(ending);
    // Listed before it exists, so that there is no moment when a signal would leave it behind.
    if (part.size() >= PATH_MAX)
      fail("created", ENAMETOOLONG);
    temporary = Temporary::claim(part);
    descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      const int error = errno;
      std::exchange(temporary, nullptr)->state = Temporary::free;
      if (error != EEXIST)
        fail("created", error);
    } else if (!holdTemporary(descriptor)) {
      ::close(std::exchange(descriptor, -1));
      std::exchange(temporary, nullptr)->state = Temporary::free;
    }
  } while (descriptor < 0);
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : name(other.name), target(other.target), temporary(std::exchange(other.temporary, nullptr)),
      descriptor(std::exchange(other.descriptor, -1)) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (descriptor >= 0)
    ::close(std::exchange(descriptor, -1));
  if (Temporary *slot = std::exchange(temporary, nullptr)) {
    slot->remove(Temporary::free);
    releaseTarget(target);
  }
}

void OutputFile::write(const void *data, std::size_t bytes) {
  if (descriptor < 0)
    throw FileError(name, "is closed and takes no more data");
  const char *p = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, p, bytes);
    if (written < 0) {
      if (errno == EINTR)
        continue;
      fail("written", errno);
    }
    p += written;
    bytes -= std::size_t(written);
  }
}

void OutputFile::reserve(std::size_t bytes) {
  if (!isRegular() || bytes == 0)
    return;
  int error = EINTR;
  while (error == EINTR)
    error = ::fallocate(descriptor, 0, 0, off_t(bytes)) == 0 ? 0 : errno;
  // Others than these mean that this file system promises nothing.
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO)
    fail("written", error);
}

void OutputFile::writeAt(std::size_t offset, const void *data, std::size_t bytes) {
  if (!isRegular())
    throw FileError(name, "is closed and takes no more data");
  const char *p = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor, p, bytes, off_t(offset));
    if (written < 0) {
      if (errno == EINTR)
        continue;
      refuse("written", errno); // other threads may be writing: whoever owns the file closes it
    }
    p += written;
    offset += std::size_t(written);
    bytes -= std::size_t(written);
  }
}

void OutputFile::commit() {
  if (descriptor < 0)
    throw FileError(name, "is closed already");
  trace::Span span("files", "put into place");
  span.explain([&] { return name; });
  // The lock that tells others that the temporary is in use goes with its last descriptor.
  const LockDescriptor lock{temporary ? ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1};
  if (::close(std::exchange(descriptor, -1)) != 0)
    fail("written", errno);
  if (temporary)
    putIntoPlace();
}

int OutputFile::commitLocked() {
  if (!isRegular())
    throw FileError(name, "is closed already");
  putIntoPlace();
  return std::exchange(descriptor, -1);
}

void OutputFile::putIntoPlace() {
  const bool removed = temporary->state != Temporary::live;
  if (removed || ::rename(temporary->path, target.c_str()) != 0)
    fail("put into place", removed ? ECANCELED : errno);
  std::exchange(temporary, nullptr)->state = Temporary::free;
  releaseTarget(target);
}

void OutputFile::unlock() const { ::flock(descriptor, LOCK_UN); }

std::string OutputFile::temporaryPath() const { return temporary ? temporary->path : ""; }

void OutputFile::removeTemporaries() noexcept {
  for (Temporary *slot = Temporary::first; slot; slot = slot->next)
    slot->remove(Temporary::removed);
}

} // namespace nanobragg::io
