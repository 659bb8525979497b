#include "runtime/kernels/CompilerBuild.h"

#include "runtime/kernels/FileDescriptor.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <vector>

namespace nanobragg {
namespace {

// A damaged file must not make us allocate what its headers claim.
constexpr std::size_t mostHeaders = 256, mostNoteBytes = 1 << 16;

bool readAt(int fd, void *into, std::size_t size, off_t offset) {
  return ::pread(fd, into, size, offset) == ssize_t(size);
}

std::string hex(const unsigned char *bytes, std::size_t size) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i != size; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

/// The build id among the notes of one segment, or an empty string.
std::string findBuildId(const std::vector<char> &notes) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t(3); };
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= notes.size()) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data() + at, sizeof(note));
    const std::size_t name = at + sizeof(note), content = name + padded(note.n_namesz);
    const std::size_t end = content + padded(note.n_descsz);
    if (end > notes.size())
      break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        !std::memcmp(notes.data() + name, "GNU", 4))
      return hex(reinterpret_cast<const unsigned char *>(notes.data() + content), note.n_descsz);
    at = end;
  }
  return {};
}

std::string readBuildId(int fd) {
  ElfW(Ehdr) elf;
  if (!readAt(fd, &elf, sizeof(elf), 0) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
      elf.e_phentsize != sizeof(ElfW(Phdr)) || elf.e_phnum > mostHeaders)
    return {};
  std::vector<ElfW(Phdr)> segments(elf.e_phnum);
  if (!readAt(fd, segments.data(), segments.size() * sizeof(ElfW(Phdr)), off_t(elf.e_phoff)))
    return {};
  for (const ElfW(Phdr) &segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > mostNoteBytes)
      continue;
    std::vector<char> notes(segment.p_filesz);
    if (!readAt(fd, notes.data(), notes.size(), off_t(segment.p_offset)))
      continue;
    if (std::string id = findBuildId(notes); !id.empty())
      return id;
  }
  return {};
}

} // namespace

std::string identifyBuild(const std::filesystem::path &library) {
  const FileDescriptor file(::open(library.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return {};
  if (const std::string id = readBuildId(file.get()); !id.empty())
    return "build-id " + id;
  return "size " + std::to_string(status.st_size) + " modified " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec) +
         " inode " + std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

} // namespace nanobragg
