// Spectra by their shapes.
#ifndef NANOBRAGG_FORMATS_SPECTRUMSHAPE_H
#define NANOBRAGG_FORMATS_SPECTRUMSHAPE_H

#include "lib/Formats/SpectrumFile.h"

#include <optional>
#include <string>

namespace nanobragg::io {

/// The spectrum that a text such as "gaussian:12000,3" describes, photons over the energy. A text
/// that does not begin with the name of a shape has none. A shape that is drawn at random is drawn
/// anew for each shot. Throws std::invalid_argument, which says how the shape is written.
std::optional<Spectrum> spectrumOfShape(const std::string &text, std::size_t shot);

/// "flat:5000,27000, gaussian:12400,3" and so on.
std::string examplesOfShapes();

} // namespace nanobragg::io
#endif
