#include "lib/HDF5/CheckedDataset.h"
#include "lib/HDF5/Nexus.h"

namespace nanobragg::io {
namespace {

constexpr hsize_t mostPoints = 100000; ///< in a spectrum; each is a source

CheckedDataset findImages(const std::string &path, hid_t file) {
  for (const char *name : {"/entry/data/data", "/entry/instrument/detector/data"})
    if (std::optional<CheckedDataset> found = CheckedDataset::find(path, file, name))
      return std::move(*found);
  throw FileError(path, "has no images in /entry/data/data or /entry/instrument/detector/data");
}

std::vector<double> numbersAt(const std::string &path, hid_t file, const std::string &name) {
  const std::optional<CheckedDataset> found = CheckedDataset::find(path, file, name);
  if (!found || found->size().size() > 1)
    return {};
  if (!found->size().empty() && found->size()[0] > mostPoints)
    throw FileError(path, "has a spectrum of " + std::to_string(found->size()[0]) +
                              " points, each of which is a source; give it at most " +
                              std::to_string(mostPoints));
  return found->read(std::vector<hsize_t>(found->size().size()), found->size());
}

} // namespace

NexusImage readNexusImage(const std::string &path, std::size_t frame) {
  const Handle file = CheckedDataset::openFile(path);
  const CheckedDataset data = findImages(path, file);
  const std::size_t rank = data.size().size();
  if (rank < 2 || rank > 4)
    throw FileError(path,
                    "has images of " + std::to_string(rank) +
                        " dimensions; frame, slow and fast, or frame, panel, slow and fast are "
                        "expected");
  std::vector<hsize_t> offset(rank), count = data.size();
  const bool single = rank == 2;
  NexusImage image;
  image.frames = single ? 1 : count[0];
  if (frame >= image.frames)
    throw FileError(path, "has " + std::to_string(image.frames) +
                              " frames, counted from 0; there is "
                              "none of number " +
                              std::to_string(frame));
  if (!single) {
    count[0] = 1;
    offset[0] = frame;
  }
  image.pixels = data.read(offset, count);
  if (image.pixels.empty())
    throw FileError(path, "has an image without pixels");
  image.fast = count[rank - 1];
  image.slow = image.pixels.size() / image.fast;
  return image;
}

NumberBlock readNumbers(const std::string &path, const std::string &name) {
  const Handle file = CheckedDataset::openFile(path);
  const std::optional<CheckedDataset> found = CheckedDataset::find(path, file, name);
  if (!found)
    throw FileError(path, "has no data set " + name);
  return {{found->size().begin(), found->size().end()},
          found->read(std::vector<hsize_t>(found->size().size()), found->size())};
}

std::vector<std::array<double, 2>> readSpectrum(const std::string &path) {
  const Handle file = CheckedDataset::openFile(path);
  std::vector<std::array<double, 2>> spectrum;
  for (const char *beam : {"/entry/instrument/beam/", "/entry/sample/beam/"}) {
    const std::string name = std::string(beam) + "incident_wavelength";
    auto wavelengths = numbersAt(path, file, name + "_1Dspectrum");
    auto weights = numbersAt(path, file, name + "_1Dspectrum_weights");
    if (wavelengths.empty()) {
      wavelengths = numbersAt(path, file, name);
      weights = numbersAt(path, file, name + "_weights");
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
