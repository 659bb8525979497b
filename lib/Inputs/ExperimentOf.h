// The experiment that flags describe.
#ifndef NANOBRAGG_INPUTS_EXPERIMENTOF_H
#define NANOBRAGG_INPUTS_EXPERIMENTOF_H

#include "lib/Experiment/Experiment.h"
#include "lib/Inputs/LoadInputs.h"
#include "nanobragg/SimulatorOptions.h"

#include <string>
#include <vector>

namespace nanobragg {

/// Flags, without the program's name, that describe an experiment and how it is run, for those who
/// ask their own questions about it. Throws UsageError also for flags that are questions to nb-sim.
CommandLine parseExperiment(const std::vector<std::string> &flags, const CommandLine &said = {});

/// chooseDefaults(), and a warning for each flag that has no effect.
CompleteExperiment completeExperiment(const CommandLine &line, const LoadedInputs &loaded);

/// What nb-sim would simulate with these flags, without the program's name. Reads the files that
/// they name; output flags are ignored. Throws UsageError, io::FileError, std::invalid_argument.
/// As loadInputs, with lists that were parsed before.
Experiment experimentOf(const std::vector<std::string> &flags, io::HklStore *parsed = nullptr);

/// How they say it is to be run, and of which pixels. Throws UsageError, io::FileError.
SimulatorOptions simulatorOptionsOf(const std::vector<std::string> &flags,
                                    const Experiment &experiment);

} // namespace nanobragg
#endif
