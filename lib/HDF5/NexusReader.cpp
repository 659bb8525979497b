#include "lib/HDF5/Handle.h"
#include "lib/HDF5/Nexus.h"

#include "lib/IO/MemoryLimit.h"

namespace nanobragg::io {
namespace {

Handle openFile(const std::string &path) {
  return checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path,
                 "cannot be opened as HDF5; it is damaged or still being written");
}

Handle openImages(const std::string &path, hid_t file) {
  for (const char *name : {"/entry/data/data", "/entry/instrument/detector/data"}) {
    Handle found(H5Dopen2(file, name, H5P_DEFAULT));
    if (found.valid())
      return found;
  }
  throw FileError(path, "has no images in /entry/data/data or /entry/instrument/detector/data");
}

std::vector<double> numbersAt(hid_t file, const char *name) {
  const Handle d(H5Dopen2(file, name, H5P_DEFAULT));
  if (!d.valid())
    return {};
  const Handle space(H5Dget_space(d));
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 1 || count > 10000000)
    return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return {};
  return values;
}

} // namespace

NexusImage readNexusImage(const std::string &path, std::size_t frame) {
  const Handle file = openFile(path);
  const Handle data = openImages(path, file);
  const Handle space(H5Dget_space(data));
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 2 || rank > 4)
    throw FileError(path,
                    "has images of " + std::to_string(rank) +
                        " dimensions; frame, slow and fast, or frame, panel, slow and fast are "
                        "expected");
  hsize_t size[4] = {}, offset[4] = {}, count[4] = {};
  H5Sget_simple_extent_dims(space, size, nullptr);
  const bool single = rank == 2;
  NexusImage image;
  image.frames = single ? 1 : size[0];
  if (frame >= image.frames)
    throw FileError(path, "has " + std::to_string(image.frames) +
                              " frames, counted from 0; there is "
                              "none of number " +
                              std::to_string(frame));
  for (int i = 0; i < rank; ++i)
    count[i] = size[i];
  if (!single) {
    count[0] = 1;
    offset[0] = frame;
  }
  double pixels = 1;
  for (int i = 0; i < rank; ++i)
    pixels *= double(count[i]);
  if (!(pixels >= 1) || pixels * sizeof(double) > 0.5 * double(memoryLimit()))
    throw FileError(path, "has an image of " + sizeText(pixels * sizeof(double)) +
                              ", more than fits into memory; its header is damaged");
  image.fast = count[rank - 1];
  image.slow = std::size_t(pixels) / image.fast;
  image.pixels.resize(std::size_t(pixels));
  H5Sselect_hyperslab(space, H5S_SELECT_SET, offset, nullptr, count, nullptr);
  const Handle memory(H5Screate_simple(rank, count, nullptr));
  if (H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, image.pixels.data()) < 0)
    throw FileError(path,
                    "has a frame that cannot be read: it is damaged, or compressed with a filter "
                    "whose plugin is missing (set HDF5_PLUGIN_PATH)");
  return image;
}

std::vector<std::array<double, 2>> readSpectrum(const std::string &path) {
  const Handle file = openFile(path);
  std::vector<std::array<double, 2>> spectrum;
  for (const char *beam : {"/entry/instrument/beam/", "/entry/sample/beam/"}) {
    const std::string name = std::string(beam) + "incident_wavelength";
    auto wavelengths = numbersAt(file, (name + "_1Dspectrum").c_str());
    auto weights = numbersAt(file, (name + "_1Dspectrum_weights").c_str());
    if (wavelengths.empty()) {
      wavelengths = numbersAt(file, name.c_str());
      weights = numbersAt(file, (name + "_weights").c_str());
    }
    if (wavelengths.size() < 2 || wavelengths.size() != weights.size())
      continue;
    for (std::size_t i = 0; i < weights.size(); ++i)
      spectrum.push_back({wavelengths[i], weights[i]});
    return spectrum;
  }
  return spectrum;
}

} // namespace nanobragg::io
