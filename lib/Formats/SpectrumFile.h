// Spectra.
#ifndef NANOBRAGG_FORMATS_SPECTRUMFILE_H
#define NANOBRAGG_FORMATS_SPECTRUMFILE_H

#include <array>
#include <string>
#include <vector>

namespace nanobragg::io {

/// Wavelength (A) and weight of each point with a weight above 0. Two columns, the first in A where
/// it is below 100 and else in eV; or the spectrum of an NXmx file. Throws FileError.
std::vector<std::array<double, 2>> readSpectrumFile(const std::string &path);

} // namespace nanobragg::io
#endif
