#include "lib/Inputs/ExperimentOf.h"

#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/NoEffect.h"
#include "lib/Experiment/AverageError.h"
#include "lib/Experiment/Defaults.h"
#include "lib/Experiment/SamplingError.h"
#include "lib/Inputs/Schedule.h"

namespace nanobragg {

CommandLine parseExperiment(const std::vector<std::string> &flags, const CommandLine &said) {
  CommandLine line = parseCommandLine(flags, said);
  if (line.tool.help || line.tool.version || line.tool.listFlags)
    throw UsageError("the flags ask nb-sim for a text instead of describing an experiment");
  if (const GivenFlag *question = questionOf(line))
    throw UsageError(question->spelling + " is a question to nb-sim; here the flags describe an "
                                          "experiment: leave it out");
  if (line.series.any())
    throw UsageError(
        "--frames and --shots make many images; here the flags describe one experiment: "
        "leave them out");
  return line;
}

CompleteExperiment completeExperiment(const CommandLine &line, const LoadedInputs &loaded) {
  CompleteExperiment complete = chooseDefaults(loaded.options, loaded.inputs, line.semantics);
  for (std::string &warning : flagsWithoutEffect(line, complete.neverRead))
    complete.warnings.push_back(std::move(warning));
  if (auto coarse = coarseSampling(complete.experiment, complete.report))
    complete.warnings.push_back(*coarse);
  if (auto inexact = inexactAverage(complete.experiment, complete.report))
    complete.warnings.push_back(*inexact);
  return complete;
}

Experiment experimentOf(const std::vector<std::string> &flags, io::HklStore *parsed) {
  const CommandLine line = parseExperiment(flags);
  const LoadedInputs loaded = loadInputs(line, {}, parsed);
  return completeExperiment(line, loaded).experiment;
}

SimulatorOptions simulatorOptionsOf(const std::vector<std::string> &flags,
                                    const Experiment &experiment) {
  const CommandLine line = parseCommandLine(flags);
  SimulatorOptions options = line.tool.simulator;
  options.passes = readSchedule(std::move(options.passes));
  options.pixels = loadPixelList(line, experiment);
  return options;
}

} // namespace nanobragg
