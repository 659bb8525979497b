#include "lib/Images/NpzFile.h"

#include "lib/Images/NpyFile.h"

#include <bit>
#include <stdexcept>
#include <zlib.h>

namespace nanobragg::io {
namespace {

static_assert(std::endian::native == std::endian::little, "zip archives are little-endian");

void put(std::string &to, std::uint64_t value, int bytes) {
  for (int i = 0; i != bytes; ++i)
    to += char(value >> (8 * i) & 0xff);
}

std::string npyOf(const NpzArray &array) {
  return std::visit(
      [&](const auto &values) {
        using T = std::remove_cvref_t<decltype(values.front())>;
        std::string bytes = npyHeader(array.shape, std::is_integral_v<T> ? 'i' : 'f', sizeof(T));
        bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
        return bytes;
      },
      array.values);
}

/// Version, flags, method (stored), time, date (1980-01-01), checksum, sizes and length of the
/// name: what a file's own header and its entry in the directory have in common.
std::string commonHeader(const std::string &name, const std::string &content) {
  const uLong checksum =
      crc32(0, reinterpret_cast<const Bytef *>(content.data()), uInt(content.size()));
  std::string header;
  put(header, 20, 2);
  put(header, 0, 2 + 2 + 2);
  put(header, 1 << 5 | 1, 2);
  put(header, checksum, 4);
  put(header, content.size(), 4);
  put(header, content.size(), 4);
  put(header, name.size(), 2);
  put(header, 0, 2);
  return header;
}

} // namespace

void writeNpz(OutputFile &out, std::span<const NpzArray> arrays) {
  std::string archive, directory;
  for (const NpzArray &array : arrays) {
    const std::string name = array.name + ".npy", content = npyOf(array);
    if (archive.size() + content.size() > 0xffff0000)
      throw std::invalid_argument("an .npz holds less than 4 GB; write a table of fewer rows");
    const std::string common = commonHeader(name, content);
    const std::size_t place = archive.size();
    archive += "PK\3\4" + common + name + content;
    directory += "PK\1\2";
    put(directory, 20, 2);
    directory += common;
    put(directory, 0, 2 + 2 + 2 + 4);
    put(directory, place, 4);
    directory += name;
  }
  const std::size_t begin = archive.size();
  archive += directory + "PK\5\6";
  put(archive, 0, 2 + 2);
  put(archive, arrays.size(), 2);
  put(archive, arrays.size(), 2);
  put(archive, directory.size(), 4);
  put(archive, begin, 4);
  put(archive, 0, 2);
  out.write(archive);
}

} // namespace nanobragg::io
