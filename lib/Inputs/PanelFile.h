// The panels of a detector as JSON.
#ifndef NANOBRAGG_INPUTS_PANELFILE_H
#define NANOBRAGG_INPUTS_PANELFILE_H

#include "lib/Experiment/Options.h"

#include <string>
#include <vector>

namespace nanobragg {

/// A list with one object per panel, in the order of the image:
///
///   [{"offset_mm": [0, -20, 0], "fast": [0, 0, 1], "slow": [0, -1, 0]}, ...]
///
/// `offset_mm` leads from the detector origin to the corner of the panel's first pixel; `fast` and
/// `slow` are the directions of its pixels, of any length. All in the lab frame before the
/// detector's rotations. An optional `normal` replaces fast x slow. Throws io::FileError.
std::vector<PanelOptions> readPanels(const std::string &path);

} // namespace nanobragg
#endif
