// Counts the instructions that a kernel executes.
// Stepping (runtime/processor/StepCount.h) is slow, so that one row of pixels is counted.
#ifndef NANOBRAGG_NBBENCH_INSTRUCTIONCOUNT_H
#define NANOBRAGG_NBBENCH_INSTRUCTIONCOUNT_H

#include "runtime/kernels/CompilerLibrary.h"
#include "tools/nb-bench/Workload.h"

#include <functional>
#include <optional>
#include <string>

namespace nanobragg {

/// Instructions and cycles of a sample.
struct Executed {
  double instructions = 0;
  /// Cycles that the busiest part of the processor is occupied: the least that the instructions can
  /// take, by LLVM's scheduling model; nothing where it has none of the processor.
  std::optional<double> cycles{};
  std::string part{};     ///< the name of that part
  double loadedBytes = 0; ///< GPU: by each thread
  /// GPU: at the speeds that the chip's maker publishes, in 1/s; 0: not known.
  double samplesPerSecond = 0;
  /// AMD: registers and spills of a thread, and the waves that a SIMD holds at once. For NVIDIA's
  /// chips they depend on the version of ptxas.
  struct Occupied {
    int registers, spills, waves;
  };
  std::optional<Occupied> occupied{};
};

/// A kernel of the request as a file, loaded. Throws std::runtime_error.
KernelHandle buildKernel(const CompilerLibrary &compiler, const KernelRequest &request);

/// Changes the request that nb-sim would make.
using ChangeRequest = std::function<void(KernelRequest &)>;

/// Per sample of a row of 64 pixels, by the kernel that nb-sim takes for all of the workload,
/// without the tables that it makes beforehand; nothing on a processor that cannot count. With
/// `gradient` those of the kernel of the workload's gradient. A kernel for a chip of a GPU is not
/// run: its instructions and cycles are those of its loop over samples, for a sample of each thread
/// of a warp.
std::optional<Executed> executedPerSample(const Workload &workload, const BenchInputs &inputs,
                                          const std::string &precision,
                                          const CompilerLibrary &compiler,
                                          const ChangeRequest &change, bool gradient = false);

} // namespace nanobragg
#endif
