// Completion for bash.
#ifndef NANOBRAGG_NBCOMPILE_COMPLETION_H
#define NANOBRAGG_NBCOMPILE_COMPLETION_H

#include <string>

namespace nanobragg {

/// A script that completes the flags of nb-sim and nb-compile, made from the tables that parse
/// them.
std::string bashCompletion();

} // namespace nanobragg
#endif
