// Detector geometries of CrystFEL, .geom.
#ifndef NANOBRAGG_FORMATS_CRYSTFELGEOMETRY_H
#define NANOBRAGG_FORMATS_CRYSTFELGEOMETRY_H

#include "lib/Formats/DialsExperiment.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg::io {

struct CrystfelGeometry {
  /// In CrystFEL's frame: z along the beam, y up. Bad regions are masked rectangles.
  std::vector<DialsPanel> panels;
  std::optional<double> wavelength;  ///< A; unset: the file does not say it
  std::string wavelengthInImage;     ///< the field of an image in which it stands instead, if any
  std::optional<double> bandwidth;   ///< standard deviation, a part of the wavelength
  bool saysDistance = false;         ///< has numbers for the camera length
  std::vector<std::string> warnings; ///< one sentence each
};

/// `distance` (mm) is the camera length of the first panel in place of the file's, which may only
/// say where in an image it stands; offsets of panels stay. Throws FileError.
CrystfelGeometry readCrystfelGeometry(const std::string &path, std::optional<double> distance);

} // namespace nanobragg::io
#endif
