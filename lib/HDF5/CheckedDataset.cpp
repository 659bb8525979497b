#include "lib/HDF5/CheckedDataset.h"

#include "lib/Files/MemoryLimit.h"
#include "lib/HDF5/Filters.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

namespace nanobragg::io {
namespace {

namespace fs = std::filesystem;

constexpr int mostLinks = 16;
constexpr double mostChunks = 1 << 18; ///< in a frame; each is looked up by itself
constexpr hssize_t mostBlocks = 1000000;
/// Frames of this size may be of any file; larger ones take no more than so many times its bytes.
constexpr double ordinaryBytes = 512e6, mostRatio = 100;

/// Names between slashes.
std::vector<std::string> namesOf(const std::string &name) {
  std::vector<std::string> names;
  for (const fs::path &part : fs::path(name).relative_path())
    if (!part.empty() && part != ".")
      names.push_back(part.string());
  return names;
}

/// A file that `path` names, in the folder of that or below.
std::string fileBeside(const std::string &path, const std::string &name) {
  std::error_code error;
  const fs::path folder = fs::canonical(fs::path(path), error).parent_path();
  for (const fs::path &from : {fs::absolute(path, error).parent_path(), folder}) {
    const fs::path target = fs::canonical(from / name, error);
    if (error)
      continue;
    const fs::path below = target.lexically_relative(fs::canonical(from, error));
    if (below.empty() || *below.begin() == "..")
      throw FileError(path, "names the file " + name +
                                ", which is not in its folder and is not followed; put the two "
                                "into one folder, or copy them into one file with h5repack");
    if (!fs::is_regular_file(target, error))
      throw FileError(path, "names " + name + ", which is not a regular file");
    return target.string();
  }
  throw FileError(path, "names the file " + name + ", which is not there");
}

std::string textOf(const std::function<ssize_t(char *, std::size_t)> &get) {
  const ssize_t size = get(nullptr, 0);
  std::string text(std::size_t(std::clamp<ssize_t>(size, 0, 65536)), '\0');
  if (!text.empty())
    get(text.data(), text.size() + 1);
  return text;
}

} // namespace

Handle CheckedDataset::openFile(const std::string &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw FileError(path, "is not a regular file, which HDF5 needs");
  return checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path,
                 "cannot be opened as HDF5; it is damaged or still being written");
}

std::optional<LinkedObject> findLinked(const std::string &first, hid_t firstFile,
                                       const std::string &name) {
  std::string path = first;
  Handle other; // a file that an external link leads to
  std::vector<std::string> names = namesOf(name), walked;
  Handle at(H5Gopen2(firstFile, "/", H5P_DEFAULT));
  int links = 0;
  for (std::size_t i = 0; i < names.size();) {
    H5L_info_t link;
    if (!at.valid() || H5Lget_info(at, names[i].c_str(), &link, H5P_DEFAULT) < 0)
      return std::nullopt;
    if (link.type == H5L_TYPE_HARD) {
      const Handle parent = std::move(at);
      at = Handle(H5Oopen(parent, names[i].c_str(), H5P_DEFAULT));
      if (!at.valid() || (i + 1 < names.size() && H5Iget_type(at) != H5I_GROUP))
        return std::nullopt;
      walked.push_back(names[i++]);
      continue;
    }
    if (++links > mostLinks)
      throw FileError(path, "has links that lead in a circle");
    if (link.type != H5L_TYPE_SOFT && link.type != H5L_TYPE_EXTERNAL)
      throw FileError(path, "has a link of a kind that is not followed");
    std::string value(std::min<std::size_t>(link.u.val_size, 65536), '\0');
    if (value.empty() ||
        H5Lget_val(at, names[i].c_str(), value.data(), value.size(), H5P_DEFAULT) < 0)
      throw FileError(path, "has a link that cannot be read");
    std::string target = value.c_str();
    if (link.type == H5L_TYPE_EXTERNAL) {
      const char *file = nullptr, *object = nullptr;
      unsigned flags = 0;
      if (H5Lunpack_elink_val(value.data(), value.size(), &flags, &file, &object) < 0)
        throw FileError(path, "has a link that cannot be read");
      target = object;
      path = fileBeside(path, file);
      other = CheckedDataset::openFile(path);
      walked.clear();
    } else if (target.starts_with('/')) {
      walked.clear();
    }
    std::vector<std::string> rest = std::move(walked);
    walked.clear();
    for (const std::string &next : namesOf(target))
      rest.push_back(next);
    rest.insert(rest.end(), names.begin() + std::ptrdiff_t(i) + 1, names.end());
    names = std::move(rest);
    i = 0;
    at = Handle(H5Gopen2(other.valid() ? hid_t(other) : firstFile, "/", H5P_DEFAULT));
  }
  return at.valid() ? std::optional(LinkedObject{path, std::move(at)}) : std::nullopt;
}

std::optional<CheckedDataset> CheckedDataset::find(const std::string &path, hid_t file,
                                                   const std::string &name) {
  std::optional<LinkedObject> found = findLinked(path, file, name);
  if (!found || H5Iget_type(found->object) != H5I_DATASET)
    return std::nullopt;
  return CheckedDataset(std::move(*found));
}

CheckedDataset::CheckedDataset(LinkedObject found)
    : path(std::move(found.path)), data(std::move(found.object)),
      creation(H5Dget_create_plist(data)), type(H5Dget_type(data)) {
  const Handle space(H5Dget_space(data));
  const int rank = H5Sget_simple_extent_ndims(space);
  if (!creation.valid() || !type.valid() || rank < 0)
    refuse("has a data set that cannot be read; it is damaged");
  if (H5Tget_class(type) == H5T_ENUM) // as Python's libraries write truth values
    type = Handle(H5Tget_super(type));
  const H5T_class_t kind = H5Tget_class(type);
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Tget_size(type) > sizeof(double))
    refuse("has a data set that does not contain numbers");
  extent.resize(std::size_t(rank));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  std::error_code error;
  fileBytes = double(fs::file_size(path, error));
}

void CheckedDataset::refuse(const std::string &why) const { throw FileError(path, why); }

double CheckedDataset::undefined() const {
  const bool isUnsigned = H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE;
  return isUnsigned ? std::ldexp(1, int(8 * H5Tget_size(type))) - 1
                    : std::numeric_limits<double>::infinity();
}

std::string CheckedDataset::unit() const {
  constexpr std::size_t longest = 64;
  if (H5Aexists(data, "units") <= 0)
    return "";
  const Handle attribute(H5Aopen(data, "units", H5P_DEFAULT));
  const Handle kind(H5Aget_type(attribute)), space(H5Aget_space(attribute));
  if (!kind.valid() || H5Tget_class(kind) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    refuse("has units that are not text");
  if (H5Tis_variable_str(kind)) {
    char *text = nullptr;
    if (H5Aread(attribute, kind, &text) < 0 || !text)
      refuse("has units that cannot be read");
    std::string unit(text, ::strnlen(text, longest));
    H5free_memory(text);
    return unit;
  }
  std::string unit(H5Tget_size(kind), '\0');
  if (unit.size() > longest || H5Aread(attribute, kind, unit.data()) < 0)
    refuse("has units that cannot be read");
  return unit.c_str();
}

double CheckedDataset::mostBytes(double fileBytes) { return ordinaryBytes + mostRatio * fileBytes; }

void CheckedDataset::requireRoom(double bytes) const {
  if (bytes > mostBytes(fileBytes) || bytes > 0.5 * double(memoryLimit()))
    refuse("claims data of " + sizeText(bytes) + ", too much for a file of " + sizeText(fileBytes) +
           " or for the memory; its header is damaged");
}

double CheckedDataset::extentBytes() const {
  double bytes = double(H5Tget_size(type));
  for (const hsize_t n : extent)
    bytes *= double(n);
  return bytes;
}

std::vector<double> CheckedDataset::read(const std::vector<hsize_t> &offset,
                                         const std::vector<hsize_t> &count) const {
  double numbers = 1;
  for (const hsize_t n : count)
    numbers *= double(n);
  requireRoom(numbers * sizeof(double));
  const Handle selected(H5Dget_space(data)),
      memory(extent.empty() ? H5Screate(H5S_SCALAR)
                            : H5Screate_simple(int(count.size()), count.data(), nullptr));
  if (!extent.empty() && H5Sselect_hyperslab(selected, H5S_SELECT_SET, offset.data(), nullptr,
                                             count.data(), nullptr) < 0)
    refuse("has a data set that is smaller than it says");
  std::vector<double> values(static_cast<std::size_t>(numbers));
  if (H5Pget_layout(creation) == H5D_VIRTUAL)
    readVirtual(offset, selected, memory, values.data());
  else
    readSelected(selected, memory, values.data());
  return values;
}

void CheckedDataset::readSelected(hid_t selected, hid_t memory, double *values) const {
  switch (H5Pget_layout(creation)) {
  case H5D_COMPACT:
    if (double(H5Dget_storage_size(data)) < extentBytes())
      refuse("has less data than it says; it is damaged");
    break;
  case H5D_CONTIGUOUS:
    checkContiguous();
    break;
  case H5D_CHUNKED:
    checkChunks(selected);
    break;
  case H5D_VIRTUAL:
    refuse("has a virtual data set over virtual data sets, which is not followed; copy it with "
           "h5repack");
  default:
    refuse("stores its data in an unknown layout");
  }
  if (H5Dread(data, H5T_NATIVE_DOUBLE, memory, selected, H5P_DEFAULT, values) < 0)
    refuse("has data that cannot be read: they are damaged, or compressed with a filter whose "
           "plugin is missing (set HDF5_PLUGIN_PATH)");
}

/// HDF5 makes a list of what is chosen before it looks for what is asked.
void CheckedDataset::requireFewBlocks(hid_t space) const {
  if (H5Sget_select_type(space) == H5S_SEL_HYPERSLABS &&
      H5Sget_select_hyper_nblocks(space) > mostBlocks)
    refuse("is a virtual data set of too many parts; copy it with h5repack");
}

void CheckedDataset::checkContiguous() const {
  if (H5Pget_external_count(creation) != 0)
    refuse("keeps its data in another file (external storage), which is not followed; copy it "
           "with h5repack");
  const haddr_t begin = H5Dget_offset(data);
  if (begin == HADDR_UNDEF || double(H5Dget_storage_size(data)) < extentBytes() ||
      double(begin) + extentBytes() > fileBytes)
    refuse("has less data than it says; it is damaged");
}

void CheckedDataset::checkChunks(hid_t selected) const {
  const std::size_t rank = extent.size();
  std::vector<hsize_t> chunk(rank), from(rank), to(rank);
  if (H5Pget_chunk(creation, int(rank), chunk.data()) != int(rank) ||
      H5Sget_select_bounds(selected, from.data(), to.data()) < 0)
    refuse("has chunks that cannot be read; it is damaged");
  double bytes = double(H5Tget_size(type)), chunks = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (chunk[d] == 0)
      refuse("has chunks without data; it is damaged");
    bytes *= double(chunk[d]);
    from[d] = from[d] / chunk[d] * chunk[d];
    const hsize_t along = (to[d] - from[d]) / chunk[d] + 1;
    chunks *= double(along);
  }
  requireRoom(bytes);
  if (chunks > mostChunks)
    refuse("has an image of more than " + std::to_string(int(mostChunks)) +
           " chunks; copy it with h5repack, with larger ones");
  std::vector<hsize_t> at = from;
  while (true) {
    checkChunk(at, std::size_t(bytes));
    std::size_t d = rank;
    while (d > 0 && (at[d - 1] += chunk[d - 1]) > to[d - 1]) {
      at[d - 1] = from[d - 1];
      --d;
    }
    if (d == 0)
      return;
  }
}

/// HDF5 takes from what the filters make of a chunk as many bytes as a chunk has.
void CheckedDataset::checkChunk(const std::vector<hsize_t> &offset, std::size_t bytes) const {
  unsigned skipped = 0;
  haddr_t begin = HADDR_UNDEF;
  hsize_t size = 0;
  if (H5Dget_chunk_info_by_coord(data, offset.data(), &skipped, &begin, &size) < 0)
    refuse("has chunks that cannot be found; it is damaged");
  if (begin == HADDR_UNDEF) // none: there are fill values
    return;
  if (double(begin) + double(size) > fileBytes)
    refuse("has a chunk beyond its end; it is damaged");
  std::vector<std::byte> raw(size);
  std::uint32_t mask = 0;
  if (H5Dread_chunk(data, H5P_DEFAULT, offset.data(), &mask, raw.data()) < 0)
    refuse("has a chunk that cannot be read; it is damaged");
  if (const std::string why = filtersRefuse(creation, mask, raw, bytes); !why.empty())
    refuse(why);
}

std::optional<CheckedDataset> CheckedDataset::sourceOf(std::size_t mapping) const {
  const std::string file = textOf([&](char *text, std::size_t size) {
    return H5Pget_virtual_filename(creation, mapping, text, size);
  });
  const std::string name = textOf([&](char *text, std::size_t size) {
    return H5Pget_virtual_dsetname(creation, mapping, text, size);
  });
  const std::string at = file == "." ? path : fileBeside(path, file);
  return find(at, openFile(at), name);
}

void CheckedDataset::readVirtual(const std::vector<hsize_t> &offset, hid_t selected, hid_t memory,
                                 double *values) const {
  double fill = 0;
  H5Pget_fill_value(creation, H5T_NATIVE_DOUBLE, &fill);
  std::fill_n(values, H5Sget_select_npoints(selected), fill);
  const std::size_t rank = extent.size();
  std::vector<hsize_t> from(rank), to(rank);
  H5Sget_select_bounds(selected, from.data(), to.data());
  std::vector<hssize_t> shift(offset.begin(), offset.end());
  std::size_t mappings = 0;
  H5Pget_virtual_count(creation, &mappings);
  for (std::size_t i = 0; i < mappings; ++i) {
    Handle shown(H5Pget_virtual_vspace(creation, i)), theirs(H5Pget_virtual_srcspace(creation, i));
    if (!shown.valid() || !theirs.valid())
      refuse("is a virtual data set that cannot be read; it is damaged");
    if (H5Sget_select_type(shown) == H5S_SEL_ALL)
      shown = Handle(H5Dget_space(data));
    if (H5Sget_simple_extent_ndims(shown) != int(rank))
      refuse("is a virtual data set that cannot be read; it is damaged");
    requireFewBlocks(shown);
    if (H5Sselect_intersect_block(shown, from.data(), to.data()) <= 0)
      continue;
    const std::optional<CheckedDataset> source = sourceOf(i);
    if (!source)
      refuse("names a data set that is not there");
    if (H5Sget_select_type(theirs) == H5S_SEL_ALL) // the mapping does not say its size
      theirs = Handle(H5Dget_space(source->data));
    requireFewBlocks(theirs);
    if (H5Sget_select_npoints(shown) < 0 ||
        H5Sget_select_npoints(shown) != H5Sget_select_npoints(theirs))
      refuse("is a virtual data set that grows, or over data of another size; copy it with "
             "h5repack");
    const Handle part(H5Scombine_select(selected, H5S_SELECT_AND, shown)),
        wanted(H5Sselect_project_intersection(shown, theirs, selected));
    const Handle there(H5Dget_space(source->data)), here(H5Scopy(memory));
    if (H5Sselect_adjust(part, shift.data()) < 0 || H5Sselect_copy(here, part) < 0 ||
        H5Sselect_copy(there, wanted) < 0 || H5Sselect_valid(there) <= 0 ||
        H5Sget_select_npoints(there) != H5Sget_select_npoints(here))
      refuse("is a virtual data set over data that are smaller than it says");
    source->readSelected(there, here, values);
  }
}

} // namespace nanobragg::io
