#include "lib/Runs/ExperimentOf.h"

#include "lib/CommandLine/Exclusions.h"
#include "lib/CommandLine/OutputNames.h"
#include "lib/Files/FileContents.h"
#include "lib/Runs/Schedule.h"
#include "lib/Runs/ShotTable.h"

#include <stdexcept>

namespace nanobragg {

CommandLine parseExperiment(const std::vector<std::string> &flags, const CommandLine &said) {
  CommandLine line = parseCommandLine(flags, said);
  if (line.tool.help || line.tool.version || line.tool.listFlags || line.tool.doctor)
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

SeriesTables readTables(const CommandLine &line) {
  SeriesTables tables;
  if (line.series.shots)
    tables.shots = io::readMaybeCompressed(*line.series.shots);
  if (line.series.lattices)
    tables.lattices = io::readMaybeCompressed(*line.series.lattices);
  return tables;
}

ExperimentRequest requestOf(const CommandLine &line, const SeriesTables &tables) {
  ExperimentRequest request;
  request.options = line.options;
  request.files = line.files;
  request.semantics = line.semantics;
  request.manyImages = line.series.any();
  request.rotationOfFrames = line.series.oscPerFrame.has_value();
  if (areExperiments(tables.shots)) // their crystals are in the frame of their detector
    request.noCell = "--shots=" + *line.series.shots +
                     " has experiments of DIALS, of which beam and detector are needed too: give "
                     "--expt=" +
                     *line.series.shots;
  else if (line.series.shots)
    request.eachStill = [&line, &tables](const Options &run, const auto &visit) {
      for (const Shot &shot : readShotTable(*line.series.shots, tables.shots, line)) {
        CommandLine one = line;
        one.options = run;
        applyShot(shot.front(), one);
        if (!visit(one.options))
          return;
      }
    };
  return request;
}

LoadedInputs loadInputs(const CommandLine &line, const SeriesTables &tables, io::HklStore *parsed) {
  refuseOutputConflicts(line);
  refuseMisleadingNames(line);
  LoadedInputs loaded = loadInputs(requestOf(line, tables), parsed);
  loaded.warnings.insert(loaded.warnings.begin(), line.warnings.begin(), line.warnings.end());
  loaded.notices.insert(loaded.notices.begin(), line.notices.begin(), line.notices.end());
  return loaded;
}

CompleteExperiment completeExperiment(const CommandLine &line, const LoadedInputs &loaded) {
  const SeriesTables none; // have been read
  CompleteExperiment complete = completeExperiment(requestOf(line, none), loaded);
  const std::vector<std::string> idle = flagsWithoutEffect(line, complete.neverRead);
  complete.warnings.insert(complete.warnings.end(), idle.begin(), idle.end());
  return complete;
}

Experiment experimentOf(const std::vector<std::string> &flags, io::HklStore *parsed,
                        std::string *warnings) {
  const CommandLine line = parseExperiment(flags);
  const SeriesTables none;
  const LoadedInputs loaded = loadInputs(line, none, parsed);
  CompleteExperiment complete = completeExperiment(line, loaded);
  if (warnings)
    for (const auto &sentences : {loaded.warnings, complete.warnings})
      for (const std::string &sentence : sentences)
        *warnings += sentence + "\n";
  return std::move(complete.experiment);
}

SimulatorOptions simulatorOptionsOf(const std::vector<std::string> &flags,
                                    const Experiment &experiment) {
  const CommandLine line = parseCommandLine(flags);
  SimulatorOptions options = line.tool.simulator;
  options.passes = readSchedule(std::move(options.passes));
  options.pixels = loadPixelList(line.files, experiment);
  return options;
}

} // namespace nanobragg
