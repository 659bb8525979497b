#include "lib/Files/FileContents.h"

#include "lib/Files/FileError.h"
#include "lib/Files/MemoryLimit.h"
#include "lib/Parallel/LargePages.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace nanobragg::io {
namespace {

struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() {
    constexpr int gzipOnly = 16 + MAX_WBITS;
    ready = inflateInit2(&stream, gzipOnly) == Z_OK;
  }
  ~Inflater() {
    if (ready)
      inflateEnd(&stream);
  }
};

bool isGzip(const std::string &bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

/// Text is parsed into more than its own size.
std::uint64_t mostBytes() { return memoryLimit() / 4; }

FileError tooLarge(const std::string &path) {
  return {path, "is larger than " + sizeText(double(mostBytes())) +
                    ", a quarter of the memory that this process may have; check that it is the "
                    "right file"};
}

// Lists of reflections shrink to a tenth.
constexpr std::size_t harmless = std::size_t(64) << 20, mostTimes = 200;

std::string inflateAll(const std::string &path, const std::string &packed) {
  Inflater inflater;
  if (!inflater.ready)
    throw FileError(path, "zlib cannot start inflating; free some memory");
  z_stream &stream = inflater.stream;
  std::string plain;
  std::size_t taken = 0, made = 0;
  const std::uint64_t most = mostBytes();
  while (true) {
    // avail_in and avail_out are 32 bits wide, so that both sides go in pieces.
    constexpr std::size_t piece = std::size_t(1) << 24;
    if (made == plain.size())
      plain.resize(std::max(2 * plain.size(), 8 * std::min(packed.size(), piece) + 4096));
    const std::size_t in = std::min(packed.size() - taken, piece);
    const std::size_t out = std::min(plain.size() - made, piece);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + taken));
    stream.avail_in = uInt(in);
    stream.next_out = reinterpret_cast<Bytef *>(plain.data() + made);
    stream.avail_out = uInt(out);
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (made > harmless && made > mostTimes * packed.size())
      throw FileError(path, "inflates to more than " + std::to_string(mostTimes) +
                                " times its size, which no list of numbers does; check the file");
    if (made > most)
      throw tooLarge(path);
    if (status == Z_STREAM_END) {
      if (taken == packed.size())
        break;
      inflateReset(&stream); // gzip files may be concatenated
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && taken == packed.size() && stream.avail_out != 0)) {
      throw FileError(path, "the gzip data end early; copy or compress the file again");
    } else if (status != Z_OK) {
      throw FileError(path, "the gzip data are damaged; copy or compress the file again");
    }
  }
  plain.resize(made);
  return plain;
}

} // namespace

std::string readBytes(const std::string &path) {
  const auto fail = [&](int error) -> FileError {
    return {path, std::string("cannot be read (") + std::strerror(error) +
                      "); check the name and its permissions"};
  };
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0)
    throw fail(errno);
  struct stat status{};
  if (::fstat(file.number, &status) != 0)
    throw fail(errno);
  if (S_ISDIR(status.st_mode))
    throw fail(EISDIR);
  const bool device = S_ISBLK(status.st_mode) ||
                      (S_ISCHR(status.st_mode) && !::isatty(file.number)); // one may type

  const std::uint64_t most = mostBytes();
  if (std::uint64_t(status.st_size) > most)
    throw tooLarge(path);
  try {
    // One byte more than expected, so that the end of a regular file is seen without growing.
    std::string bytes;
    bytes.reserve(std::size_t(status.st_size) + 1);
    preferLargePages(bytes.data(), bytes.capacity());
    bytes.resize(std::size_t(status.st_size) + 1);
    std::size_t filled = 0;
    while (true) {
      if (filled == bytes.size())
        bytes.resize(2 * bytes.size() + 65536);
      const ssize_t got = ::read(file.number, bytes.data() + filled, bytes.size() - filled);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        throw fail(errno);
      if (got == 0)
        break;
      filled += std::size_t(got);
      if (device) // all but an empty one such as /dev/null have no end
        throw FileError(path, "is a device, not a file; name a file or a pipe");
      if (filled > most)
        throw tooLarge(path);
    }
    bytes.resize(filled);
    return bytes;
  } catch (const std::bad_alloc &) {
    throw FileError(path, "does not fit into memory; check that it is the right file");
  }
}

void requireRegular(const std::string &path) {
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    throw FileError(path, "is not a regular file, and another file names it; copy it into one");
}

std::string readMaybeCompressed(const std::string &path) {
  std::string bytes = readBytes(path);
  if (isGzip(bytes))
    try {
      bytes = inflateAll(path, bytes);
    } catch (const std::bad_alloc &) {
      throw FileError(path,
                      "does not fit into memory when inflated; check that it is the right file");
    }
  if (bytes.starts_with("\xef\xbb\xbf"))
    bytes.erase(0, 3);
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
    throw FileError(path, "is text of UTF-16; save it as UTF-8");
  return bytes;
}

} // namespace nanobragg::io
