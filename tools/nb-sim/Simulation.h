// One run of nb-sim.
#ifndef NANOBRAGG_NBSIM_SIMULATION_H
#define NANOBRAGG_NBSIM_SIMULATION_H

#include "lib/CommandLine/CommandLine.h"
#include "tools/nb-sim/Timing.h"

namespace nanobragg {

/// Reads, compiles, renders and writes what the command line asks for. Returns the exit status;
/// every error is an exception. Where ranks share the work, the line says afterwards what this one
/// does.
int simulate(CommandLine &line, const ProcessStart &start);

} // namespace nanobragg
#endif
