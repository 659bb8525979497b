// The identity of a command, by which --resume knows it.
#ifndef NANOBRAGG_RUNS_COMMANDDIGEST_H
#define NANOBRAGG_RUNS_COMMANDDIGEST_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Inputs/LoadInputs.h"

#include <string>
#include <vector>

namespace nanobragg {

/// A line of text for this program's version, for each flag that changes an image of a series, in
/// their order, and for the content of each file that they read: "nb-sim 0.2.0", "-osc 1",
/// "file a.hkl 04a3e37fb23ef4bb". How many images there are, how many threads render them and what
/// is told meanwhile makes no difference. `loaded`: what was read for `line`; it names files that
/// other files name. Throws io::FileError.
std::vector<std::string> partsOf(const CommandLine &line, const LoadedInputs &loaded);

/// 16 hexadecimal digits of these lines.
std::string digestOf(const std::vector<std::string> &parts);

} // namespace nanobragg
#endif
