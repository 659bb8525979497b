#include "lib/IO/SpectrumFile.h"

#include "lib/Experiment/Units.h"
#include "lib/IO/FileContents.h"
#include "lib/IO/FileError.h"
#include "lib/IO/NexusFile.h"
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
  TextLines lines(text);
  std::string_view line;
  while (lines.next(line)) {
    double numbers[2];
    int count = 0;
    std::string_view rest = line, word;
    while (!(word = nextWord(rest, " \t\r,;")).empty()) {
      const char *end = word.data() + word.size();
      if (count == 2 || parseNumber(word.data(), end, numbers[count]) != end)
        throw FileError(path, lines.number(),
                        "cannot be read at " + quoted(word) +
                            "; lines have wavelength (A) or energy (eV), and a weight");
      ++count;
    }
    if (count == 0)
      continue;
    if (count < 2 || !(numbers[0] > 0))
      throw FileError(path, lines.number(),
                      "needs a wavelength (A) or energy (eV) above 0, and a weight");
    if (numbers[1] < 0)
      throw FileError(path, lines.number(), "has a negative weight");
    if (numbers[0] > smallestEnergy)
      numbers[0] = units::wavelengthFromEnergy(numbers[0]) * 1e10;
    if (numbers[1] > 0)
      spectrum.push_back({numbers[0], numbers[1]});
  }
  if (spectrum.empty())
    throw FileError(path, "has no point with a weight above 0");
  return spectrum;
}

} // namespace nanobragg::io
