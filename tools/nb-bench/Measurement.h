// One row of the benchmark.
#ifndef NANOBRAGG_NBBENCH_MEASUREMENT_H
#define NANOBRAGG_NBBENCH_MEASUREMENT_H

#include "runtime/kernels/KernelProvider.h"
#include "tools/nb-bench/InstructionCount.h"
#include "tools/nb-bench/Reference.h"
#include "tools/nb-bench/Workload.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

struct Plan {
  std::vector<std::string> precisions{"f64"};
  std::string device = "cpu"; ///< as nb-sim's --device
  std::string pipeline;       ///< as nb-sim's --pipeline
  int repeat = 5;
  bool countInstructions = false;
  bool gradients = false;
  std::optional<Reference> reference;
};

/// The times of the reference, the same in the rows that were measured together.
struct ReferenceTime {
  double startupSeconds; ///< median of runs with one pixel
  double runSeconds;     ///< median of whole runs, less the start-up
};

struct Measurement {
  Workload workload;
  std::string precision;
  std::string target; ///< the target that the kernel was compiled for
  int threads = 1;
  double samples = 0;
  double setupSeconds = 0;   ///< reading files and deriving
  double compileSeconds = 0; ///< without loading the compiler library; 0 for a kernel seen before
  double prepareSeconds = 0; ///< median
  double runSeconds = 0;     ///< median, all tiles
  std::optional<double> deviceSeconds; ///< median, a GPU's launches without copies
  std::optional<Executed> executed;    ///< by a sample
  std::optional<double> clock;         ///< GHz while it was measured, median
  /// Median, of the gradient alone, with respect to all numbers of cell, orientation, mosaic
  /// spread, wavelength and detector.
  std::optional<double> gradientSeconds;
  std::optional<ReferenceTime> reference;
  double worstDifference = 0; ///< any pixel's from the reference, relative to the brightest

  double nsPerSample() const { return runSeconds / samples * 1e9; }
  /// The part of the time that the instructions take at least, on one thread.
  std::optional<double> boundShare() const {
    if (!executed || !executed->cycles || !clock || threads != 1)
      return std::nullopt;
    return *executed->cycles / (nsPerSample() * *clock);
  }
  double referenceNsPerSample() const { return reference->runSeconds / samples * 1e9; }
  double gradientNsPerSample() const { return *gradientSeconds / samples * 1e9; }
  /// How much longer a gradient takes than an image, tables included.
  double gradientCost() const { return *gradientSeconds / (prepareSeconds + runSeconds); }
  /// How much faster than the reference, tables included.
  double speedup() const { return reference->runSeconds / (prepareSeconds + runSeconds); }
};

double median(std::vector<double> values);

/// One workload with each precision and the reference, in turn: A B C A B C ...
std::vector<Measurement> measure(const Workload &workload, const BenchInputs &inputs, int threads,
                                 const Plan &plan, KernelProvider &kernels);

} // namespace nanobragg
#endif
