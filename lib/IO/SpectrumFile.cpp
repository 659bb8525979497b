#include "lib/IO/SpectrumFile.h"

#include "lib/Experiment/Units.h"
#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/NexusFile.h"
#include "lib/IO/TextColumns.h"
#include "lib/IO/TextScanner.h"

namespace nanobragg::io {

std::vector<std::array<double, 2>> readSpectrumFile(const std::string &path) {
  const std::string text = readMaybeCompressed(path);
  if (isHdf5(text)) {
    auto spectrum = readNexusSpectrum(path);
    if (spectrum.empty())
      throw FileError(path, "has no spectrum (incident_wavelength_1Dspectrum and its weights)");
    return spectrum;
  }
  constexpr double smallestEnergy = 100; // eV; wavelengths are smaller
  std::vector<std::array<double, 2>> spectrum;
  forEachRow(path, text, 3, [&](std::size_t line, const std::vector<double> &numbers) {
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
    if (!(wavelength * units::angstrom > 0))
      throw FileError(path, line, "needs a wavelength (A) or energy (eV) above 0, and a weight");
    if (weight > 0)
      spectrum.push_back({wavelength, weight});
  });
  if (spectrum.empty())
    throw FileError(path, "has no point with a weight above 0");
  return spectrum;
}

} // namespace nanobragg::io
