// Structure factors that depend on the energy.
#ifndef NANOBRAGG_COMMANDLINE_FACTORSBYENERGYINPUT_H
#define NANOBRAGG_COMMANDLINE_FACTORSBYENERGYINPUT_H

#include "lib/CommandLine/CommandLine.h"

#include <functional>

namespace nanobragg {

/// Puts the lists of --hkl-channels into `loaded`, on a box that spans all of them. `load` reads
/// line.files.hkl into the grid of `loaded`. Throws UsageError, io::FileError.
void loadChannels(CommandLine &line, const std::function<void()> &load, LoadedInputs &loaded);

/// Puts a list of h k l F phase into `loaded`. Throws io::FileError.
void loadPhasedHkl(const std::string &path, const std::string &content, const CommandLine &line,
                   LoadedInputs &loaded);

} // namespace nanobragg
#endif
