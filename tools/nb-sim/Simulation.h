// One run of nb-sim.
#ifndef NANOBRAGG_NBSIM_SIMULATION_H
#define NANOBRAGG_NBSIM_SIMULATION_H

#include "lib/CommandLine/CommandLine.h"
#include "tools/nb-sim/Timing.h"

namespace nanobragg {

/// Ends of the process that other programs tell apart.
enum ExitStatus {
  Success = 0,
  Failure = 1,
  UsageFailure = 2,
  EnginesDiffer = 3, ///< --compare-engines
  SignalBase = 128
};

/// Reads, compiles, renders and writes what the command line asks for. `sinceStart` was begun by
/// main(). Returns the exit status; every error is an exception.
int simulate(const CommandLine &line, const Stopwatch &sinceStart);

} // namespace nanobragg
#endif
