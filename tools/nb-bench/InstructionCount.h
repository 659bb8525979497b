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

using KernelMaker = std::function<KernelHandle(const KernelRequest &)>;

/// Per sample of a row of 64 pixels, without the tables that the kernel makes beforehand; nothing
/// on a processor that cannot count. `makeKernel` is given what nb-sim would ask for. With
/// `gradient` those of the kernel of the workload's gradient.
std::optional<double> instructionsPerSample(Workload workload, const BenchInputs &inputs,
                                            const std::string &precision,
                                            const KernelMaker &makeKernel, bool gradient = false);

} // namespace nanobragg
#endif
