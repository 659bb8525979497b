//===- OutputConflicts.h - files that would destroy each other --*- C++ -*-===//
#ifndef NANOBRAGG_COMMANDLINE_OUTPUTCONFLICTS_H
#define NANOBRAGG_COMMANDLINE_OUTPUTCONFLICTS_H

#include "CommandLine.h"

namespace nanobragg {

/// Throws UsageError when two outputs are the same file, or an output is an input.
void refuseOutputConflicts(const CommandLine &line);

} // namespace nanobragg
#endif
