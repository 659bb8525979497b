//===- Timing.h - where the time of a run went ------------------*- C++ -*-===//
#ifndef NANOBRAGG_NBSIM_TIMING_H
#define NANOBRAGG_NBSIM_TIMING_H

#include "nanobragg/KernelProvider.h"

#include <chrono>
#include <string>

namespace nanobragg {

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

struct Timing {
  std::string engine = "fused"; ///< or "interpreter"
  std::string precision, target;
  double startupSeconds = 0; ///< from main() to the first tile: inputs, compiler, tables
  double prepareSeconds = 0; ///< the kernel's tables, part of the start-up
  double runSeconds = 0;     ///< all tiles
  double totalSeconds = 0;   ///< from main() to the last output's renaming
  double samples = 0;        ///< innermost evaluations: rendered pixels x samples per pixel
  int threads = 1;
  KernelCounters kernel;

  /// Wall-clock time of one sample.
  double nsPerSample() const { return samples > 0 ? runSeconds / samples * 1e9 : 0; }

  /// A JSON object, one key per line.
  std::string toJson() const;
};

} // namespace nanobragg
#endif
