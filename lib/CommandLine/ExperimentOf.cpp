#include "lib/CommandLine/ExperimentOf.h"

#include "lib/CommandLine/CommandLine.h"
#include "lib/Experiment/Derive.h"

#include <stdexcept>

namespace nanobragg {

Experiment experimentOf(const std::vector<std::string> &flags) {
  CommandLine line = parseCommandLine(flags);
  if (line.tool.help || line.tool.version || line.tool.listFlags)
    throw std::invalid_argument("the flags ask for a text instead of describing an experiment");
  const LoadedInputs loaded = loadInputs(line);
  return derive(line.options, loaded.inputs, line.semantics).experiment;
}

DeviceChoice deviceOf(const std::vector<std::string> &flags) {
  return parseCommandLine(flags).tool.device;
}

} // namespace nanobragg
