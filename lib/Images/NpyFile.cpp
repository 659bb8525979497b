#include "lib/Images/NpyFile.h"

#include "lib/Experiment/CheckedSize.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace nanobragg::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr char nativeOrder = std::endian::native == std::endian::little ? '<' : '>';

/// Nothing when no memory can have as many.
std::optional<std::int64_t> entriesOf(std::span<const std::size_t> shape) {
  std::optional<std::int64_t> entries = 1;
  for (std::size_t extent : shape)
    entries = entries ? tryProduct({*entries, std::int64_t(extent)}) : std::nullopt;
  return entries;
}

} // namespace

std::string npyHeader(std::span<const std::size_t> shape, char kind, std::size_t bytesOfValue) {
  std::string tuple;
  for (std::size_t extent : shape)
    tuple += std::to_string(extent) + ",";
  std::string dict = "{'descr': '" + std::string(1, nativeOrder) + kind +
                     std::to_string(bytesOfValue) + "', 'fortran_order': False, 'shape': (" +
                     tuple + "), }";
  // Magic, version and length take 10 bytes; the data begin at a multiple of 64.
  dict.resize((10 + dict.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  dict += '\n';
  std::string header(magic);
  header += {'\1', '\0', char(dict.size() & 0xff), char(dict.size() >> 8)};
  return header + dict;
}

namespace {

template <typename T>
void write(OutputFile &out, std::span<const std::size_t> shape, std::span<const T> values) {
  if (entriesOf(shape) != std::int64_t(values.size()))
    throw std::invalid_argument("the values do not fill the array");
  out.write(npyHeader(shape, 'f', sizeof(T)));
  out.write(values);
}

/// The text that follows `'key':` in the header's dictionary.
std::string_view valueOf(const std::string &path, std::string_view dict, std::string_view key) {
  const std::size_t found = dict.find("'" + std::string(key) + "':");
  if (found == std::string_view::npos)
    throw FileError(path, "the .npy header lacks " + std::string(key) + "; save the array again");
  std::string_view value = dict.substr(found + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

std::vector<std::size_t> parseShape(const std::string &path, std::string_view value) {
  const FileError malformed(path, "the .npy header has a malformed shape; save the array again");
  const std::size_t close = value.find(')');
  if (!value.starts_with('(') || close == std::string_view::npos)
    throw malformed;
  value = value.substr(1, close - 1);
  std::vector<std::size_t> shape;
  while (true) {
    value.remove_prefix(std::min(value.find_first_not_of(" ,"), value.size()));
    if (value.empty())
      return shape;
    std::size_t extent = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), extent);
    if (error != std::errc{})
      throw malformed;
    shape.push_back(extent);
    value.remove_prefix(std::size_t(stop - value.data()));
  }
}

template <typename T>
std::vector<T> parseValues(const std::string &path, const std::vector<std::size_t> &shape,
                           std::string_view data) {
  const std::optional<std::int64_t> entries = entriesOf(shape);
  const std::size_t count = data.size() / sizeof(T);
  if (entries != std::int64_t(count) || data.size() % sizeof(T) != 0)
    throw FileError(path, "has " + std::to_string(data.size()) +
                              " bytes of values, which do not fit its shape; save the array again");
  std::vector<T> values(count);
  if (count > 0)
    std::memcpy(values.data(), data.data(), data.size());
  return values;
}

} // namespace

void writeNpy(OutputFile &out, std::span<const std::size_t> shape, std::span<const float> values) {
  write(out, shape, values);
}

void writeNpy(OutputFile &out, std::span<const std::size_t> shape, std::span<const double> values) {
  write(out, shape, values);
}

NpyArray readNpy(const std::string &path) { return parseNpy(path, readBytes(path)); }

NpyArray parseNpy(const std::string &path, std::string_view all) {
  if (!all.starts_with(magic) || all.size() < 12)
    throw FileError(path, "is not a .npy file; save the array with numpy.save");
  const auto byte = [&](std::size_t i) { return std::size_t(static_cast<unsigned char>(all[i])); };
  const bool longHeader = byte(6) >= 2;
  const std::size_t start = longHeader ? 12 : 10;
  const std::size_t length =
      byte(8) | byte(9) << 8 | (longHeader ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > all.size() - start)
    throw FileError(path, "ends inside the .npy header; copy the file again");
  const std::string_view dict = all.substr(start, length), data = all.substr(start + length);
  if (!valueOf(path, dict, "fortran_order").starts_with("False"))
    throw FileError(path, "is in Fortran order; save numpy.ascontiguousarray of the array");

  NpyArray array;
  array.shape = parseShape(path, valueOf(path, dict, "shape"));
  const std::string_view type = valueOf(path, dict, "descr");
  const auto isType = [&](const char *name) {
    return type.starts_with("'" + std::string(1, nativeOrder) + name + "'");
  };
  if (isType("f4"))
    array.values = parseValues<float>(path, array.shape, data);
  else if (isType("f8"))
    array.values = parseValues<double>(path, array.shape, data);
  else
    throw FileError(path, "has values of another type than this machine's float32 or float64; "
                          "convert the array with astype");
  return array;
}

} // namespace nanobragg::io
