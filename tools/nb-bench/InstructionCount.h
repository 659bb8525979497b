// What a kernel executes, counted.
//
// Instructions are counted by stepping through them, one trap each. That needs neither hardware
// counters, which virtual machines rarely have, nor a simulator of the processor, and those that
// exist do not know AVX-512. It is exact and takes microseconds per instruction, so that one row of
// pixels is counted.
#ifndef NANOBRAGG_NBBENCH_INSTRUCTIONCOUNT_H
#define NANOBRAGG_NBBENCH_INSTRUCTIONCOUNT_H

#include "tools/nb-bench/Workload.h"
#include "runtime/kernels/CompilerLibrary.h"

#include <functional>
#include <optional>
#include <string>

namespace nanobragg {

using KernelMaker = std::function<KernelHandle(const KernelRequest &)>;

/// Per sample of a row of 64 pixels, without the tables that the kernel makes beforehand; nothing
/// on a processor that cannot count. `makeKernel` is given what nb-sim would ask for. With `gradient`
/// those of the kernel of the workload's gradient.
std::optional<double> instructionsPerSample(Workload workload, const BenchInputs &inputs,
                                            const std::string &precision,
                                            const KernelMaker &makeKernel,
                                            bool gradient = false);

} // namespace nanobragg
#endif
