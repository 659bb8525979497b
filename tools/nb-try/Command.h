// What nb-try was asked to do.
#ifndef NANOBRAGG_NBTRY_COMMAND_H
#define NANOBRAGG_NBTRY_COMMAND_H

#include <string>
#include <vector>

namespace nanobragg {

struct TryCommand {
  bool help = false, version = false, json = false, bisect = false, time = true, count = true;
  std::vector<std::string> pipelines, leaveOut, untilAfter;
  std::string target = "native";
  std::string gradient; ///< parameters; empty: the usual ones, "none"
  double rtol = 0, atolOfMax = 0;   ///< 0: by the precision
  double checkSamples = 2e6;        ///< what the interpreter is asked to compute
  double mostSeconds = 120;
  unsigned repeat = 5;
  std::string require;                 ///< a question to be answered by the exit status
  std::string program;                 ///< an .mlir file
  std::vector<std::string> experiment; ///< everything else: flags of nb-sim
};

/// Throws UsageError.
TryCommand parseTry(const std::vector<std::string> &words);
std::string tryUsage();

} // namespace nanobragg
#endif
