// The files of a command line: their formats, and those that would destroy each other.
#ifndef NANOBRAGG_COMMANDLINE_OUTPUTNAMES_H
#define NANOBRAGG_COMMANDLINE_OUTPUTNAMES_H

#include "lib/CommandLine/CommandLine.h"

#include <cstdint>

namespace nanobragg {

/// A name that ends in the extension of a format that its flag does not write is refused, with the
/// flag that does or the name that fits; `-floatfile x.npy` is one that it does write. Any other
/// name will do. -compat c looks at no name, as the C program. Throws UsageError.
void refuseMisleadingNames(const CommandLine &line);

/// Does -floatfile ask for an array of NumPy?
bool wantsNpy(const CommandLine &line);
/// For a table of text, which a list of pixels can be?
bool wantsText(const CommandLine &line);

/// The name of one panel's file: x.img becomes x_panel2.img.
std::string nameOfPanel(const std::string &name, std::int64_t panel);

/// All files that it reads, as far as they are regular files.
std::vector<std::string> inputsRead(const CommandLine &line);

/// Throws UsageError when two outputs are the same file, or an output is an input.
void refuseOutputConflicts(const CommandLine &line);

} // namespace nanobragg
#endif
