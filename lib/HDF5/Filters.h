// How chunks of HDF5 are compressed.
#ifndef NANOBRAGG_HDF5_FILTERS_H
#define NANOBRAGG_HDF5_FILTERS_H

#include <cstddef>
#include <cstdint>
#include <hdf5.h>
#include <span>
#include <string>

namespace nanobragg::io {

constexpr H5Z_filter_t bitshuffleFilter = 32008;

/// Why the filters of `creation` do not make exactly `bytes` of a chunk as it is in the file;
/// empty: they do. A bit of `skipped`: the filter of its number was left out.
std::string filtersRefuse(hid_t creation, std::uint32_t skipped, std::span<const std::byte> raw,
                          std::size_t bytes);

} // namespace nanobragg::io
#endif
