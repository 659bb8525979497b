#include "lib/Inputs/SpectrumInput.h"

#include "lib/Choose/Defaults.h"
#include "lib/Experiment/Units.h"
#include "lib/Files/FileError.h"
#include "lib/Files/TextScanner.h"
#include "lib/Formats/SensorMaterial.h"
#include "lib/Formats/SpectrumFile.h"
#include "lib/Quantities/CallersWords.h"
#include "lib/Quantities/Printable.h"
#include "lib/Quantities/UsageError.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nanobragg {
namespace {

/// Its mean wavelength, A.
double takeSpectrum(const io::Spectrum &spectrum, const Options &options, Inputs &inputs) {
  if (options.spectrumBetween.value_or(spectrum.isShape
                                           ? SpectrumBetween::Linear
                                           : SpectrumBetween::Lines) == SpectrumBetween::Linear) {
    for (const auto &point : spectrum.points)
      inputs.spectrum.push_back({point[0] * units::angstrom, spectrum.overWavelength(point)});
    std::ranges::sort(inputs.spectrum);
    return meanWavelength(inputs.spectrum) / units::angstrom;
  }
  double sum = 0, weights = 0;
  for (const auto &[wavelength, weight] : spectrum.points) {
    if (weight > 0)
      inputs.sources.push_back({{}, weight, wavelength * 1e-10});
    sum += weight * wavelength;
    weights += weight;
  }
  return sum / weights;
}

} // namespace

void loadSpectrum(const ExperimentRequest &request, std::optional<std::size_t> shot,
                  LoadedInputs &loaded) {
  const std::string &named = *request.files.spectrum;
  Options &options = loaded.options;
  Inputs &inputs = loaded.inputs;
  io::Spectrum spectrum;
  try {
    spectrum = io::readSpectrumFile(named, shot);
  } catch (const std::invalid_argument &error) {
    throw UsageError(inWordsOf(request.caller, "--spectrum") + " " + printable(named) + ": " +
                     error.what());
  }
  const double mean = takeSpectrum(spectrum, options, inputs);
  loaded.hasSpectraOfShots = spectrum.isOfShots;
  const auto header = [](const auto &h) { return h && h->wavelength; };
  loaded.isMeanWavelength = !options.lambda && !options.energy && !header(inputs.imageHeader) &&
                            !header(inputs.maskHeader);
  if (loaded.isMeanWavelength)
    options.lambda = units::wavelengthFromAngstrom(mean);
}

static io::Spectrum spectrumOf(const std::string &named, std::size_t shot,
                               const LoadedInputs &loaded) {
  return loaded.spectra.empty() ? io::readSpectrumFile(named, shot) : loaded.spectra[shot];
}

void readSpectra(const std::string &named, std::size_t shots, LoadedInputs &loaded) {
  for (std::size_t shot = 0; shot != shots; ++shot) {
    io::Spectrum spectrum = io::readSpectrumFile(named, shot);
    if (spectrum.isShape) // drawn when it is needed
      return;
    loaded.spectra.push_back(std::move(spectrum));
  }
}

void replaceSpectrum(const std::string &named, std::size_t shot, const LoadedInputs &loaded,
                     Options &options, Inputs &inputs) {
  inputs.sources.clear();
  inputs.spectrum.clear();
  const double mean = takeSpectrum(spectrumOf(named, shot, loaded), options, inputs);
  if (loaded.isMeanWavelength)
    options.lambda = units::wavelengthFromAngstrom(mean);
}

SpectraOfShots spectraOfShots(const std::string &named, std::size_t shots,
                              const LoadedInputs &loaded) {
  SpectraOfShots spectra;
  for (std::size_t shot = 0; shot != shots; ++shot) {
    io::Spectrum spectrum = spectrumOf(named, shot, loaded);
    std::vector<double> &weights = spectra.weights.emplace_back();
    for (auto &point : spectrum.points) // files have densities over the wavelength
      weights.push_back(point[1] = spectrum.overWavelength(point));
    if (shot == 0)
      spectra.first = spectrum.points;
    const auto same = [](const auto &a, const auto &b) { return a[0] == b[0]; };
    if (!std::ranges::equal(spectrum.points, spectra.first, same))
      return {};
  }
  return spectra;
}

void loadEfficiency(const std::string &path, Inputs &inputs) {
  for (const auto &[wavelength, part] : io::readSpectrumFile(path).points) {
    if (part > 1)
      throw io::FileError(path, "has the efficiency " + io::shortNumber(part) +
                                    "; the fraction of photons that is counted is from 0 to 1");
    inputs.efficiency.push_back({wavelength * 1e-10, part});
  }
  std::ranges::sort(inputs.efficiency);
  for (std::size_t i = 1; i < inputs.efficiency.size(); ++i)
    if (inputs.efficiency[i][0] == inputs.efficiency[i - 1][0])
      throw io::FileError(path, "has two efficiencies at " +
                                    io::shortNumber(inputs.efficiency[i][0] * 1e10) + " A");
}

void loadSensorMaterial(const ExperimentRequest &request, Inputs &inputs) {
  constexpr double lowest = 1000, highest = 150000, perNode = 1.002; // eV
  std::vector<double> energies;
  for (double energy = lowest; energy < highest; energy *= perNode)
    energies.push_back(energy);
  const std::string &name = *request.files.sensorMaterial;
  const std::vector<double> absorption = io::sensorAbsorption(name, energies);
  if (absorption.empty())
    throw UsageError(inWordsOf(request.caller, "--sensor-material") + " does not know " +
                     io::inQuotes(name) + "; it knows " + io::sensorMaterialNames() + ", and " +
                     inWordsOf(request.caller, "-detector_absorb") + " says the depth of others");
  for (std::size_t i = 0; i != energies.size(); ++i)
    inputs.sensorAbsorption.push_back({energies[i], absorption[i]});
}

} // namespace nanobragg
