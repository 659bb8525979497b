// The costs of the first image and of the next ones.
#ifndef NANOBRAGG_NBBENCH_STARTS_H
#define NANOBRAGG_NBBENCH_STARTS_H

#include "tools/nb-bench/Workload.h"

#include <string>

namespace nanobragg {

/// From a command line to an image, in seconds.
struct Start {
  double beforeMain; ///< processor time of the system and the dynamic loader
  double setup;      ///< from main() to the first tile: files, numbers, kernel, tables, threads
  double kernel;     ///< the part of it that getting the kernel takes: cache, loading, compiling
  double compile;    ///< the part of that in the compiler
  double run;        ///< all tiles
};

struct Starts {
  int pixels, threads;
  Start cold;    ///< nb-sim with an empty cache: the compiler is loaded, compiles and publishes
  Start again;   ///< a second simulator in a process that has the kernel
  Start another; ///< nb-sim again, which finds the kernel in the cache: median
};

/// nb-sim is the one beside this program. `folder` must not exist; it is where the cache and the
/// images go.
Starts measureStarts(const Workload &workload, const BenchInputs &inputs, int threads,
                     const std::string &precision, int repeat, const std::filesystem::path &folder);

} // namespace nanobragg
#endif
