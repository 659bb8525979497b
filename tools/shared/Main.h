// The main function of a tool.
#ifndef NANOBRAGG_TOOLS_MAIN_H
#define NANOBRAGG_TOOLS_MAIN_H

#include <string>
#include <vector>

namespace nanobragg {

/// Ends of the process that other programs tell apart.
enum ExitStatus {
  Success = 0,
  Failure = 1,
  UsageFailure = 2,
  Different = 3 ///< the compared things differ
};

/// Writes to standard output. Success, or Failure when it cannot be written.
int print(const std::string &text);

using CommandWords = std::vector<std::string>;

/// Runs `work` on the words after the program's name and returns the exit status. Exceptions become
/// one sentence on standard error, after a UsageError also a line that says who lists the flags.
/// Ctrl-C ends it as io::InterruptGuard says.
/// With NB_TRACE_EVENTS, records what runs when. `setFlags`, of a tool that compiles, first gets
/// the words for MLIR and LLVM, --mlir-... and
/// --debug-only, which `work` then does not see.
int runTool(const char *name, const char *helpFlag, int argc, char **argv,
            int (*work)(const CommandWords &words),
            void (*setFlags)(const CommandWords &) = nullptr);
/// The same for a tool whose flags are OwnFlags; --help prints `usage`, and --version the version.
int runTool(const char *name, std::string (*usage)(), int argc, char **argv,
            int (*work)(const CommandWords &words),
            void (*setFlags)(const CommandWords &) = nullptr);

} // namespace nanobragg
#endif
