// The command line of nb-gradcheck as a structure.
#ifndef NANOBRAGG_GRADCHECK_COMMAND_H
#define NANOBRAGG_GRADCHECK_COMMAND_H

#include "tools/nb-gradcheck/Check.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

struct GradCheckCommand {
  bool json = false;
  std::string parameters = "scalars";
  std::vector<Engine> engines = {Engine::Fused, Engine::Interpreter};
  Engine reference = Engine::Interpreter;
  std::optional<double> rtol, atol; ///< unset: by the precision
  CheckOptions check;
  int threads = 0;
  DeviceChoice device = "cpu";         ///< for compiled kernels, as SimulatorOptions::device
  std::vector<std::string> experiment; ///< everything else: flags of nb-sim
};

/// Throws UsageError.
GradCheckCommand parseGradCheck(const std::vector<std::string> &words);

std::string gradCheckUsage();

} // namespace nanobragg
#endif
