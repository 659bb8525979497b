// One run of nb-sim.
#ifndef NANOBRAGG_NBSIM_SIMULATION_H
#define NANOBRAGG_NBSIM_SIMULATION_H

#include "lib/CommandLine/CommandLine.h"
#include "tools/nb-sim/Timing.h"

namespace nanobragg {

/// Reads, compiles, renders and writes what the command line asks for. Returns the exit status;
/// every error is an exception.
int simulate(const CommandLine &line, const ProcessStart &start);

} // namespace nanobragg
#endif
