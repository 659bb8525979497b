// A number that tells one command from another.
#ifndef NANOBRAGG_RUNS_COMMANDDIGEST_H
#define NANOBRAGG_RUNS_COMMANDDIGEST_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Inputs/LoadInputs.h"

#include <string>

namespace nanobragg {

/// 16 hexadecimal digits of this program's version, of all flags that change an image of a series,
/// in their order, and of the contents of the files that they read. How many images there are, how
/// many threads render them and what is told meanwhile makes no difference. `loaded`: what was read
/// for `line`; it names files that other files name. Throws io::FileError.
std::string digestOf(const CommandLine &line, const LoadedInputs &loaded);

} // namespace nanobragg
#endif
