//===- Measurement.h - one row of the benchmark -----------------*- C++ -*-===//
#ifndef NANOBRAGG_NBBENCH_MEASUREMENT_H
#define NANOBRAGG_NBBENCH_MEASUREMENT_H

#include "Reference.h"
#include "Workload.h"
#include "nanobragg/KernelProvider.h"

#include <optional>
#include <string>

namespace nanobragg {

struct Plan {
  int repeat = 5;
  std::string precision = "f64";
  std::optional<Reference> reference;
};

struct Measurement {
  std::string shape;
  int threads = 1;
  double samples = 0;
  double setupSeconds = 0;   ///< reading files and deriving
  double compileSeconds = 0; ///< without loading the compiler library; 0 for a kernel seen before
  double prepareSeconds = 0; ///< median
  double runSeconds = 0;     ///< median, all tiles
  // Set with a reference:
  std::optional<double> referenceStartupSeconds; ///< median of runs with one pixel
  std::optional<double> referenceRunSeconds;     ///< median of whole runs, less the start-up
  std::optional<double> ratio;                   ///< of reference run to prepare + run here
  std::optional<double> worstDifference;         ///< of any pixel, relative to the brightest

  double nsPerSample() const { return runSeconds / samples * 1e9; }
};

/// Runs both programs in turn, `plan.repeat` times each.
Measurement measure(const Workload &workload, int threads, const Plan &plan,
                    KernelProvider &kernels);

} // namespace nanobragg
#endif
