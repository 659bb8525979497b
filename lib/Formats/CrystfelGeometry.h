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
  std::optional<double> wavelength;  ///< A; unset: the file says where in an image it stands
  std::vector<std::string> warnings; ///< one sentence each
};

/// `distance` (mm) is the camera length where the file says only where in an image it stands.
/// Throws FileError.
CrystfelGeometry readCrystfelGeometry(const std::string &path, std::optional<double> distance);

} // namespace nanobragg::io
#endif
