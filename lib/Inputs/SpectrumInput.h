// The energies of the beam's light, and how much of it counts.
#ifndef NANOBRAGG_INPUTS_SPECTRUMINPUT_H
#define NANOBRAGG_INPUTS_SPECTRUMINPUT_H

#include "lib/Inputs/LoadInputs.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

/// Takes the spectrum of a file or shape into the inputs, and its mean as the wavelength where
/// nothing else says it. `shot`: of a series. Throws io::FileError and UsageError.
void loadSpectrum(const ExperimentRequest &request, std::optional<std::size_t> shot,
                  LoadedInputs &loaded);

/// Reads the spectra of so many shots from a file of them. Files of HDF5 are read by copies of this
/// process, in which locks of other threads stay held, so that this comes before there are any.
/// Throws io::FileError.
void readSpectra(const std::string &named, std::size_t shots, LoadedInputs &loaded);

/// The same as loadSpectrum() of another shot, in the place of the one that was loaded.
void replaceSpectrum(const std::string &named, std::size_t shot, const LoadedInputs &loaded,
                     Options &options, Inputs &inputs);

/// Wavelengths (A) and weights of the first shot, and the weights of each of a series at the same
/// wavelengths; none where these differ.
struct SpectraOfShots {
  std::vector<std::array<double, 2>> first;
  std::vector<std::vector<double>> weights;
};
SpectraOfShots spectraOfShots(const std::string &named, std::size_t shots,
                              const LoadedInputs &loaded);

/// The fraction of photons that is counted at each wavelength. Throws io::FileError.
void loadEfficiency(const std::string &path, Inputs &inputs);

/// The absorption of the sensor's material. Throws UsageError.
void loadSensorMaterial(const ExperimentRequest &request, Inputs &inputs);

} // namespace nanobragg
#endif
