#include "lib/HDF5/Filters.h"

#include <libdeflate.h>
#include <memory>
#include <new>
#include <vector>

namespace nanobragg::io {
namespace {

constexpr H5Z_filter_t bloscFilter = 32001, lz4Filter = 32004;

/// False: not exactly so many.
bool inflate(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!inflater)
    throw std::bad_alloc();
  std::size_t read = 0, made = 0;
  return libdeflate_zlib_decompress_ex(inflater.get(), from.data(), from.size(), to.data(),
                                       to.size(), &read, &made) == LIBDEFLATE_SUCCESS &&
         made == to.size();
}

/// A number of `bytes` bytes from the beginning.
std::uint64_t number(std::span<const std::byte> from, std::size_t bytes, bool bigEndian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | std::uint64_t(from[bigEndian ? i : bytes - 1 - i]);
  return value;
}

const char *const tooLittle = "has a chunk that is not of its size; it is damaged";

} // namespace

std::string filtersRefuse(hid_t creation, std::uint32_t skipped, std::span<const std::byte> raw,
                          std::size_t bytes) {
  std::vector<std::byte> inflated;
  // They were applied in their order. Where a size is known behind one, it is what is ahead of it.
  for (int i = H5Pget_nfilters(creation) - 1; i >= 0; --i) {
    if (skipped >> i & 1)
      continue;
    unsigned flags = 0;
    unsigned values[20] = {};
    std::size_t count = 20;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, unsigned(i), &flags, &count, values, 0, nullptr, nullptr);
    const auto header = [&](std::size_t skip, std::size_t size, bool bigEndian) {
      return raw.size() >= 12 && number(raw.subspan(skip), size, bigEndian) == bytes;
    };
    switch (filter) {
    case H5Z_FILTER_SHUFFLE:
      break;
    case H5Z_FILTER_FLETCHER32:
      if (raw.size() < 4)
        return tooLittle;
      raw = raw.first(raw.size() - 4);
      break;
    case H5Z_FILTER_DEFLATE:
      inflated.resize(bytes);
      if (!inflate(raw, inflated))
        return tooLittle;
      raw = inflated;
      break;
    // Plugins, each with the size that it makes in its own header.
    case bitshuffleFilter:
      if (count > 4 && values[4] != 0) { // it compresses, too
        if (!header(0, 8, true))
          return tooLittle;
        return "";
      }
      break;
    case lz4Filter:
      return header(0, 8, true) ? "" : tooLittle;
    case bloscFilter:
      return header(4, 4, false) ? "" : tooLittle;
    default:
      return "is compressed with the filter " + std::to_string(filter) +
             " of HDF5, which is not read; copy it with h5repack -f SHUF -f GZIP=1";
    }
  }
  return raw.size() == bytes ? "" : tooLittle;
}

} // namespace nanobragg::io
