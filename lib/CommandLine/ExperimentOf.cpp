#include "lib/CommandLine/ExperimentOf.h"

#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/Schedule.h"
#include "lib/Experiment/Culling.h"
#include "lib/Experiment/Defaults.h"

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

Experiment experimentOf(const std::vector<std::string> &flags, io::HklStore *parsed) {
  CommandLine line = parseExperiment(flags);
  const LoadedInputs loaded = loadInputs(line, {}, parsed);
  return completeExperiment(line, loaded).experiment;
}

SimulatorOptions simulatorOptionsOf(const std::vector<std::string> &flags,
                                    const Experiment &experiment) {
  const CommandLine line = parseCommandLine(flags);
  SimulatorOptions options = line.tool.simulator;
  ProgramVariant variant = experiment.variant;
  variant.cull = cullFor(options.cull, experiment);
  options.passes = readSchedule(std::move(options.passes), variant.toString());
  options.pixels = loadPixelList(line, experiment);
  return options;
}

} // namespace nanobragg
