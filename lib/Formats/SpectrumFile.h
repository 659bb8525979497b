// Spectra.
#ifndef NANOBRAGG_FORMATS_SPECTRUMFILE_H
#define NANOBRAGG_FORMATS_SPECTRUMFILE_H

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg::io {

struct Spectrum {
  std::vector<std::array<double, 2>> points; ///< wavelength, A, and weight
  bool isByEnergy = false;                   ///< they are energies in the file
  /// A point's weight, where it is a density over what the file has, as one over the wavelength.
  double overWavelength(const std::array<double, 2> &point) const {
    return isByEnergy ? point[1] / (point[0] * point[0]) : point[1];
  }
  bool isShape = false;   ///< see spectrumOfShape()
  bool isOfShots = false; ///< each shot may have one of its own
};

/// At least one weight is above 0. Two columns, the first in A where it is below 100 and else in
/// eV; a shape, see spectrumOfShape(); or the spectrum of an NXmx file, and with "file.nxs:7" shot
/// 7 has its own. `shot`: of a series, from 0, where the name has none. Throws FileError, and
/// std::invalid_argument for shapes.
Spectrum readSpectrumFile(const std::string &path, std::optional<std::size_t> shot = {});

/// The spectrum that a text such as "gaussian:12000,3" describes, photons over the energy. A text
/// that does not begin with the name of a shape has none. A shape that is drawn at random is drawn
/// anew for each shot. Throws std::invalid_argument, which says how the shape is written.
std::optional<Spectrum> spectrumOfShape(const std::string &text, std::size_t shot);

/// "flat:5000,27000, gaussian:12400,3" and so on.
std::string examplesOfShapes();

} // namespace nanobragg::io
#endif
