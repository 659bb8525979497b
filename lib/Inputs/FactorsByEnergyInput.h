// Structure factors that depend on the energy.
#ifndef NANOBRAGG_INPUTS_FACTORSBYENERGYINPUT_H
#define NANOBRAGG_INPUTS_FACTORSBYENERGYINPUT_H

#include "lib/Formats/StructureFactorFile.h"
#include "lib/Inputs/LoadInputs.h"

#include <functional>

namespace nanobragg {

/// Puts the lists that `path`, of --hkl-channels, names into `loaded`, on a box that spans all of
/// them. `load` reads a list into the grid of `loaded`. Throws UsageError, io::FileError.
void loadChannels(const std::string &path, const std::function<void(const std::string &)> &load,
                  LoadedInputs &loaded);

/// Moves complex structure factors into `loaded`.
void takePhasedFactors(io::StructureFactors &factors, LoadedInputs &loaded);

/// Puts a list of h k l F phase into `loaded`. Throws io::FileError.
void loadPhasedHkl(const std::string &path, const std::string &content, LoadedInputs &loaded);

} // namespace nanobragg
#endif
