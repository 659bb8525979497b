// The experiment that flags describe.
#ifndef NANOBRAGG_RUNS_EXPERIMENTOF_H
#define NANOBRAGG_RUNS_EXPERIMENTOF_H

#include "lib/CommandLine/CommandLine.h"
#include "lib/Experiment/Experiment.h"
#include "lib/Inputs/LoadInputs.h"
#include "nanobragg/SimulatorOptions.h"

#include <string>
#include <vector>

namespace nanobragg {

/// Flags, without the program's name, that describe an experiment and how it is run, for those who
/// ask their own questions about it. Throws UsageError also for flags that are questions to nb-sim.
CommandLine parseExperiment(const std::vector<std::string> &flags, const CommandLine &said = {});

/// Contents of the tables of a series, which may be pipes; empty without.
struct SeriesTables {
  std::string shots;    ///< content of --shots
  std::string lattices; ///< content of --lattices
};
/// Throws io::FileError.
SeriesTables readTables(const CommandLine &line);

/// The request of a command line before its files are read. `line` and `tables` outlive it.
ExperimentRequest requestOf(const CommandLine &line, const SeriesTables &tables);

/// Reads every file that the command line names, with its own warnings first. Throws UsageError
/// also for outputs that would destroy each other, io::FileError.
LoadedInputs loadInputs(const CommandLine &line, const SeriesTables &tables,
                        io::HklStore *parsed = nullptr);

/// The experiment, with a warning for each flag that has no effect.
CompleteExperiment completeExperiment(const CommandLine &line, const LoadedInputs &loaded);

/// The experiment that nb-sim would simulate with these flags, without its name. Reads the files
/// they name, but lists that `parsed` has; output flags are ignored. `warnings`: gets a line for
/// each. Throws UsageError, io::FileError, std::invalid_argument.
Experiment experimentOf(const std::vector<std::string> &flags, io::HklStore *parsed = nullptr,
                        std::string *warnings = nullptr);

/// How they say it is to be run, and of which pixels. Throws UsageError, io::FileError.
SimulatorOptions simulatorOptionsOf(const std::vector<std::string> &flags,
                                    const Experiment &experiment);

} // namespace nanobragg
#endif
