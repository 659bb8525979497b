#include "lib/Files/TextScanner.h"
#include "lib/HDF5/CheckedDataset.h"
#include "lib/HDF5/Nexus.h"

#include <cstdio>

namespace nanobragg::io {
namespace {

constexpr hsize_t mostPoints = 100000; ///< in a spectrum; each is a source

/// Frames that a data set holds: frame, slow and fast; frame, panel, slow and fast; or one frame.
hsize_t framesOf(const std::string &path, const CheckedDataset &data) {
  const std::size_t rank = data.size().size();
  if (rank < 2 || rank > 4)
    throw FileError(path,
                    "has images of " + std::to_string(rank) +
                        " dimensions; frame, slow and fast, or frame, panel, slow and fast are "
                        "expected");
  return rank == 2 ? 1 : data.size()[0];
}

/// The data set with a frame, whose number becomes that in the data set.
CheckedDataset findImages(const std::string &path, hid_t file, std::size_t &frame) {
  const std::size_t asked = frame;
  const auto find = [&](const std::string &name) { return CheckedDataset::find(path, file, name); };
  // Masters of Dectris have their frames in several data sets, mostly of other files.
  const auto part = [&](int number) {
    char name[32];
    std::snprintf(name, sizeof name, "/entry/data/data_%06d", number);
    return find(name);
  };
  std::optional<CheckedDataset> found = find("/entry/data/data");
  if (!found)
    found = find("/entry/instrument/detector/data");
  int number = found ? 0 : 1;
  if (!found)
    found = part(number);
  if (!found)
    throw FileError(path, "has no images in /entry/data/data, /entry/data/data_000001 or "
                          "/entry/instrument/detector/data");
  hsize_t frames = 0;
  while (found) {
    const hsize_t here = framesOf(path, *found);
    if (frame < here)
      return std::move(*found);
    frame -= here;
    frames += here;
    found = number > 0 ? part(++number) : std::nullopt;
  }
  throw FileError(path, "has " + std::to_string(frames) +
                            " frames, counted from 0; there is no number " + std::to_string(asked));
}

/// A in the unit of wavelengths.
double angstroms(const std::string &path, const CheckedDataset &data) {
  const std::string unit = data.unit();
  for (const auto &[name, size] :
       {std::pair("", 1.0), {"angstrom", 1.0}, {"A", 1.0}, {"nm", 10.0}, {"pm", 0.01}, {"m", 1e10}})
    if (unit == name)
      return size;
  throw FileError(path, "has wavelengths in " + inQuotes(unit) + "; write angstrom, nm, pm or m");
}

/// The numbers of a data set, of two dimensions those of a shot; `wavelengths` in A.
std::vector<double> numbersAt(const std::string &path, hid_t file, const std::string &name,
                              std::optional<std::size_t> shot, bool wavelengths) {
  const std::optional<CheckedDataset> found = CheckedDataset::find(path, file, name);
  if (!found || found->size().size() > 2)
    return {};
  std::vector<hsize_t> count = found->size(), offset(count.size());
  if (count.size() == 2) {
    if (!shot || *shot >= count[0])
      throw FileError(path, "has spectra of " + std::to_string(count[0]) +
                                " shots, counted from 0; choose one: " + path + ":0");
    offset[0] = *shot;
    count[0] = 1;
  }
  if (!count.empty() && count.back() > mostPoints)
    throw FileError(path, "has a spectrum of " + std::to_string(count.back()) +
                              " points, each of which is a source; give it at most " +
                              std::to_string(mostPoints));
  std::vector<double> numbers = found->read(offset, count);
  const double unit = wavelengths ? angstroms(path, *found) : 1;
  for (double &number : numbers)
    number *= unit;
  return numbers;
}

} // namespace

NexusImage readNexusImage(const std::string &path, std::size_t frame) {
  const Handle file = CheckedDataset::openFile(path);
  const CheckedDataset data = findImages(path, file, frame);
  std::vector<hsize_t> count = data.size(), offset(count.size());
  if (count.size() > 2) {
    count[0] = 1;
    offset[0] = frame;
  }
  NexusImage image;
  image.undefined = data.undefined();
  image.pixels = data.read(offset, count);
  if (image.pixels.empty())
    throw FileError(path, "has an image without pixels");
  image.fast = count.back();
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

std::vector<std::array<double, 2>> readSpectrum(const std::string &path,
                                                std::optional<std::size_t> shot) {
  const Handle file = CheckedDataset::openFile(path);
  std::vector<std::array<double, 2>> spectrum;
  for (const char *beam : {"/entry/instrument/beam/", "/entry/sample/beam/"}) {
    const std::string name = std::string(beam) + "incident_wavelength";
    auto wavelengths = numbersAt(path, file, name + "_1Dspectrum", shot, true);
    auto weights = numbersAt(path, file, name + "_1Dspectrum_weights", shot, false);
    if (wavelengths.empty()) {
      wavelengths = numbersAt(path, file, name, shot, true);
      weights = numbersAt(path, file, name + "_weights", shot, false);
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
