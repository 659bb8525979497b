// The command line of nb-try as a structure.
#ifndef NANOBRAGG_NBTRY_COMMAND_H
#define NANOBRAGG_NBTRY_COMMAND_H

#include "tools/shared/LabSetup.h"

#include <string>
#include <vector>

namespace nanobragg {

struct TryCommand {
  bool json = false, bisect = false, count = false;
  std::vector<std::string> pipelines, leaveOut, untilAfter;
  bool tune = false;
  double leastGain = 0.02;
  std::string output; ///< a file for the tuned schedule
  LabWords words;
  unsigned repeat = 9;
  std::string require; ///< a question to be answered by the exit status
};

/// Throws UsageError.
TryCommand parseTry(const std::vector<std::string> &words);
std::string tryUsage();

} // namespace nanobragg
#endif
