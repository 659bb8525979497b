// Work that may crash.
#ifndef NANOBRAGG_PROCESS_ISOLATED_H
#define NANOBRAGG_PROCESS_ISOLATED_H

#include <functional>
#include <optional>
#include <string>

namespace nanobragg {

/// The output of an isolated process; or how it ended, if not in order.
struct IsolatedResult {
  std::string bytes, problem; ///< "crashes: Segmentation fault", "takes more than 60 s"
  bool begun = true;          ///< whether the system had a process to give
};

struct IsolatedLimits {
  double seconds;
  std::optional<double> bytes{}; ///< memory beside what this process has
  bool withErrors = false;       ///< the text begins with what goes to standard error
};

/// Runs `work` in a copy of this process and returns the text that it makes. Changes of memory
/// stays there. The copy has one thread: `work` must need no lock that another one may hold.
IsolatedResult runIsolated(const std::function<std::string()> &work, const IsolatedLimits &limits);

} // namespace nanobragg
#endif
