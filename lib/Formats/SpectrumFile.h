// Spectra.
#ifndef NANOBRAGG_FORMATS_SPECTRUMFILE_H
#define NANOBRAGG_FORMATS_SPECTRUMFILE_H

#include <array>
#include <string>
#include <vector>

namespace nanobragg::io {

struct Spectrum {
  std::vector<std::array<double, 2>> points; ///< wavelength, A, and weight
  bool isByEnergy = false;                   ///< they are energies in the file
};

/// At least one weight is above 0. Two columns, the first in A where it is below 100 and else in
/// eV; or the spectrum of an NXmx file, of which "file.nxs:7" is that of shot 7. Throws FileError.
Spectrum readSpectrumFile(const std::string &path);

} // namespace nanobragg::io
#endif
