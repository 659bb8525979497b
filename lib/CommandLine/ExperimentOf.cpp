#include "lib/CommandLine/ExperimentOf.h"

#include "lib/CommandLine/CommandLine.h"
#include "lib/CommandLine/Exclusions.h"
#include "lib/Experiment/Defaults.h"

#include <stdexcept>

namespace nanobragg {

Experiment experimentOf(const std::vector<std::string> &flags) {
  CommandLine line = parseCommandLine(flags);
  if (line.tool.help || line.tool.version || line.tool.listFlags)
    throw std::invalid_argument("the flags ask for a text instead of describing an experiment");
  if (const GivenFlag *action = actionOf(line))
    throw UsageError(action->spelling + " is a question to nb-sim; here the flags describe an "
                                        "experiment: leave it out");
  const LoadedInputs loaded = loadInputs(line);
  return chooseDefaults(line.options, loaded.inputs, line.semantics).experiment;
}

DeviceChoice deviceOf(const std::vector<std::string> &flags) {
  return parseCommandLine(flags).tool.device;
}

} // namespace nanobragg
