// Single pixels of panels of DIALS.
#ifndef NANOBRAGG_INPUTS_DIALSPIXELS_H
#define NANOBRAGG_INPUTS_DIALSPIXELS_H

#include "lib/Inputs/LoadInputs.h"

namespace nanobragg {

/// The mask: rectangles of the panels, and a mask file of DIALS, empty: none. Unless there is a
/// mask already. Throws io::FileError.
void takeMask(const std::vector<io::DialsPanel> &panels, const std::string &file,
              LoadedInputs &loaded);

/// The gain: one number, or one for each pixel where panels differ.
void takeGain(const std::vector<io::DialsPanel> &panels, LoadedInputs &loaded);

} // namespace nanobragg
#endif
