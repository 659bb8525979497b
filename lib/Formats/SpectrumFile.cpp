#include "lib/Formats/SpectrumFile.h"

#include "lib/Experiment/Units.h"
#include "lib/Files/FileContents.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextColumns.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/NexusFile.h"
#include "lib/Formats/SpectrumShape.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace nanobragg::io {
namespace {

/// In A. Gamma rays and light are not diffracted by crystals.
constexpr double shortest = 1e-3, longest = 1e3;

bool isOfXRays(double wavelength) { return wavelength >= shortest && wavelength <= longest; }

std::string notOfXRays(double wavelength) {
  return "has the wavelength " + shortNumber(wavelength) + " A, and X-rays have 0.001 to 1000; " +
         "numbers above 100 are energies in eV";
}

/// "file.nxs:7" as a name and the number of a shot.
std::pair<std::string, std::optional<std::size_t>> fileAndShot(const std::string &named) {
  const std::size_t colon = named.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || std::filesystem::exists(named, ignored))
    return {named, {}};
  std::size_t shot = 0;
  const char *const begin = named.data() + colon + 1, *const end = named.data() + named.size();
  const auto [stop, error] = std::from_chars(begin, end, shot);
  if (begin == end || stop != end || error != std::errc())
    return {named, {}};
  return {named.substr(0, colon), shot};
}

/// Files of images are large; others are read whole.
bool beginsHdf5(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return false;
  std::array<char, 8> bytes{};
  std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
  return isHdf5({bytes.data(), bytes.size()});
}

} // namespace

Spectrum readSpectrumFile(const std::string &named, std::optional<std::size_t> shotOfSeries) {
  if (auto shape = spectrumOfShape(named, shotOfSeries.value_or(0)))
    return *std::move(shape);
  const auto [path, shot] = fileAndShot(named);
  if (std::error_code ignored;
      named.find(':') != std::string::npos && !std::filesystem::exists(path, ignored))
    throw FileError(named, "is neither a file nor a shape, such as " + examplesOfShapes());
  const bool isNexus = beginsHdf5(path);
  if (shot && !isNexus)
    throw FileError(path, "has one spectrum; leave out ':" + std::to_string(*shot) + "'");
  if (isNexus) {
    auto spectrum = readNexusSpectrum(path, shot ? shot : shotOfSeries);
    if (spectrum.empty())
      throw FileError(path, "has no spectrum (incident_wavelength_1Dspectrum and its weights)");
    for (const auto &[wavelength, weight] : spectrum)
      if (!isOfXRays(wavelength))
        throw FileError(path, notOfXRays(wavelength));
    return {std::move(spectrum), false, false, !shot};
  }
  constexpr double smallestEnergy = 100; // eV; wavelengths are smaller
  Spectrum spectrum;
  spectrum.isByEnergy = true;
  forEachRow(
      path, readMaybeCompressed(path), 3,
      [&](std::size_t line, const std::vector<double> &numbers) {
        if (numbers.size() != 2)
          throw FileError(path, line,
                          "has " + std::to_string(numbers.size()) +
                              " numbers; lines have wavelength (A) or energy (eV), and a weight");
        auto [wavelength, weight] = std::array{numbers[0], numbers[1]};
        if (weight < 0)
          throw FileError(path, line,
                          "has the weight " + shortNumber(weight) + "; weights are 0 or above");
        if (wavelength > smallestEnergy)
          wavelength = units::wavelengthFromEnergy(wavelength) * 1e10;
        else
          spectrum.isByEnergy = false;
        if (!isOfXRays(wavelength))
          throw FileError(path, line, notOfXRays(wavelength));
        spectrum.points.push_back({wavelength, weight});
      });
  if (std::ranges::none_of(spectrum.points, [](const auto &point) { return point[1] > 0; }))
    throw FileError(path, "has no point with a weight above 0");
  return spectrum;
}

} // namespace nanobragg::io
