// Where the time of a run went.
#ifndef NANOBRAGG_NBSIM_TIMING_H
#define NANOBRAGG_NBSIM_TIMING_H

#include "nanobragg/Simulator.h"
#include "runtime/kernels/KernelProvider.h"
#include "runtime/processor/Stopwatch.h"

#include <string>

namespace nanobragg {

/// To be made first thing in main().
struct ProcessStart {
  ProcessStart();

  Stopwatch sinceMain;
  double cpuSecondsBefore; ///< processor time that the process had used by then
};

struct Timing {
  std::string engine = "fused"; ///< or "interpreter"
  std::string precision, target;
  std::string averages; ///< how they are taken in closed form, and why; empty: not so
  /// Processor time before main(): what the operating system and the dynamic loader spent.
  double beforeMainCpuSeconds = 0;
  double startupSeconds = 0;  ///< from main() to the first tile: inputs, kernel, tables, threads
  double prepareSeconds = 0;  ///< the kernel's tables, part of the start-up
  double runSeconds = 0;      ///< all tiles
  double renderedSeconds = 0; ///< from main() to the last tile
  double totalSeconds = 0;    ///< from main() to the last output's renaming
  double samples = 0;         ///< innermost evaluations: rendered pixels x samples per pixel
  /// Those that may have light, and those that were computed, whole blocks of pixels.
  double samplesLit = 0, samplesEvaluated = 0;
  int threads = 1;
  KernelCounters kernel;
  // A GPU has these.
  std::string device; ///< empty: the processor
  std::int64_t deviceBytes = 0, uploadedBytes = 0, launches = 0;
  double deviceSeconds = 0; ///< time of the launches, part of the run

  /// Records the figures of a run of floats, which began `beforeRun` seconds after main().
  void record(Simulator &simulator, const SimulatorOptions &options, const RunResult &result,
              const ProcessStart &start, double beforeRun);

  /// Wall-clock time of one sample.
  double nsPerSample() const { return samples > 0 ? runSeconds / samples * 1e9 : 0; }

  /// A JSON object, one key per line.
  std::string toJson() const;
};

} // namespace nanobragg
#endif
