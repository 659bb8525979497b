// From a command line to a runnable experiment.
#ifndef NANOBRAGG_TOOLS_RUNSETUP_H
#define NANOBRAGG_TOOLS_RUNSETUP_H

#include "lib/Experiment/Defaults.h"
#include "lib/Inputs/LoadInputs.h"
#include "nanobragg/Simulator.h"
#include "runtime/simulator/Placement.h"

#include <string>
#include <vector>

namespace nanobragg {

/// A command line with its files read and every automatic choice made.
struct RunSetup {
  explicit RunSetup(const CommandLine &commandLine);

  /// The options of the command line, for one run with kernels from `kernels`.
  SimulatorOptions simulatorOptions(KernelProvider &kernels) const;
  std::vector<std::string> warnings() const;
  /// One line for each way in which this run differs from the C program's, and what else is worth
  /// knowing.
  std::vector<std::string> notices() const;
  /// Prints both on standard error, unless --quiet.
  void tell() const;
  /// Prints who took over from a GPU or a kernel that could not be had, unless --quiet; `does` says
  /// what it does: "renders".
  void tellFallbacks(const Simulator &simulator, const char *does) const;

  CommandLine line;
  LoadedInputs loaded;
  CompleteExperiment complete;
  Decision decided; ///< on the program of the image
};

/// For OwnPasses::tell: a line on standard error.
void tellPasses(const std::string &line);

/// The number that --threads, or else OMP_NUM_THREADS as for the C program, asks for; 0: one per
/// core.
int requestedThreads(const ToolOptions &tool);

} // namespace nanobragg
#endif
