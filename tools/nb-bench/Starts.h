//===- Starts.h - what the first image costs, and the next ones -*- C++ -*-===//
#ifndef NANOBRAGG_NBBENCH_STARTS_H
#define NANOBRAGG_NBBENCH_STARTS_H

#include "Workload.h"

#include <string>

namespace nanobragg {

/// From a command line to an image.
struct Start {
  double inputSeconds;  ///< reading files and deriving numbers
  double kernelSeconds; ///< getting the kernel, whatever that takes
  double runSeconds;    ///< tables and tiles
};

struct Starts {
  Start cold;    ///< nothing cached: the compiler is loaded, compiles and publishes
  Start again;   ///< a second simulator in that process
  Start another; ///< another process, which finds the kernel in the cache
};

/// Each process is a child of this one, which must not have opened the compiler; its cache is
/// `cache`, which must not exist.
Starts measureStarts(const Workload &workload, int threads, const std::string &precision,
                     const std::filesystem::path &cache);

} // namespace nanobragg
#endif
