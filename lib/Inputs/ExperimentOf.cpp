#include "lib/Inputs/ExperimentOf.h"

#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/NoEffect.h"
#include "lib/Experiment/AverageError.h"
#include "lib/Experiment/Defaults.h"
#include "lib/Experiment/SamplingError.h"
#include "lib/Inputs/Schedule.h"

#include <stdexcept>
#include <string_view>

namespace nanobragg {
namespace {

/// What is wrong with what a file says, with the file's name. `problem` begins with the flag that
/// says the same.
std::string withFile(const InputFiles &files, std::string problem) {
  const struct {
    std::string flag, spelling;
    const std::optional<std::string> &file;
  } candidates[] = {{"-mat", "-mat", files.matrix},
                    {"-mat", "--expt", files.expt},
                    {"-sourcefile", "-sourcefile", files.sources},
                    {"-sourcefile", "--spectrum", files.spectrum},
                    {"-mask", "-mask", files.mask},
                    {"-mask", "--expt", files.expt},
                    {"-mask", "--geom", files.geometry},
                    {"-gain_map", "-gain_map", files.gainMap},
                    {"-gain_map", "--expt", files.expt}};
  for (const auto &[flag, spelling, file] : candidates)
    if (file && problem.starts_with(flag + ": "))
      return problem.replace(0, flag.size(), spelling + " " + *file);
  return problem;
}

} // namespace

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
  CompleteExperiment complete = [&] {
    try {
      return chooseDefaults(loaded.options, loaded.inputs, line.semantics);
    } catch (const std::invalid_argument &error) {
      throw std::invalid_argument(withFile(line.files, error.what()));
    }
  }();
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
