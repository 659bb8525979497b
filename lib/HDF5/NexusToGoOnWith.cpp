#include "lib/HDF5/NexusToGoOnWith.h"

#include "lib/HDF5/Filters.h"

#include <algorithm>
#include <vector>

namespace nanobragg::io {
namespace {

std::vector<H5Z_filter_t> filtersOf(hid_t creation) {
  std::vector<H5Z_filter_t> filters;
  for (int i = 0, n = std::max(H5Pget_nfilters(creation), 0); i < n; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    filters.push_back(
        H5Pget_filter2(creation, unsigned(i), &flags, &values, nullptr, 0, nullptr, nullptr));
  }
  return filters;
}

bool isOwn(hid_t data, const NexusOptions &options, std::size_t rows) {
  const Handle space(H5Dget_space(data)), type(H5Dget_type(data)),
      creation(H5Dget_create_plist(data));
  const hid_t wanted = options.floats ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT32;
  const std::vector<H5Z_filter_t> filters =
      options.bitshuffle ? std::vector<H5Z_filter_t>{bitshuffleFilter}
                         : std::vector<H5Z_filter_t>{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
  hsize_t size[3] = {}, chunk[3] = {};
  return H5Sget_simple_extent_ndims(space) == 3 &&
         H5Sget_simple_extent_dims(space, size, nullptr) == 3 && H5Tequal(type, wanted) > 0 &&
         H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, 3, chunk) == 3 &&
         filtersOf(creation) == filters && size[0] == options.frames && chunk[0] == 1 &&
         size[1] == rows && chunk[1] == rows && size[2] == options.frameFast &&
         chunk[2] == options.frameFast;
}

} // namespace

Handle unlockedAccess() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access, false, true);
  return access;
}

Handle dataToGoOnWith(hid_t file, const std::string &path, const NexusOptions &options,
                      std::size_t rows) {
  constexpr char name[] = "/entry/data/data";
  for (const char *at : {"/entry", "/entry/data", name}) {
    H5L_info_t link;
    if (H5Lget_info(file, at, &link, H5P_DEFAULT) < 0)
      throw FileError(path, std::string("has no ") + name +
                                " to continue; remove it, or leave out --resume");
    if (link.type != H5L_TYPE_HARD)
      throw FileError(path, std::string("has a link at ") + at +
                                ", which is not followed to write; remove the file, or leave out "
                                "--resume");
  }
  Handle data = checked(H5Dopen2(file, name, H5P_DEFAULT), path,
                        "has no data set to continue; remove it, or leave out --resume");
  if (!isOwn(data, options, rows))
    throw FileError(path, "is of another series: its frames have another number, size, type or "
                          "compression; remove it, or leave out --resume");
  return data;
}

void tryToGoOnWith(const std::string &path, const NexusOptions &options, std::size_t rows) {
  const Handle file =
      checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, unlockedAccess()), path, noFileToGoOnWith);
  const Handle data = dataToGoOnWith(file, path, options, rows);
  for (std::size_t frame = 0; frame < options.frames; ++frame) {
    const hsize_t offset[3] = {frame, 0, 0};
    hsize_t size = 0;
    H5Dget_chunk_storage_size(data, offset, &size); // an error is a frame that is not done
  }
}

} // namespace nanobragg::io
