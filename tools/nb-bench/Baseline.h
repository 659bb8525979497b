// Instruction counts and bounds that must not rise.
#ifndef NANOBRAGG_NBBENCH_BASELINE_H
#define NANOBRAGG_NBBENCH_BASELINE_H

#include "tools/nb-bench/InstructionCount.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nanobragg {

/// Per sample, by target and then by workload and precision.
using InstructionCounts = std::map<std::string, std::map<std::string, Executed>>;

/// Counts of the guarded workloads, compiled for each of the targets: chips of GPUs, and levels of
/// x86-64 that this processor can run; says on standard output which it cannot.
InstructionCounts countGuarded(const std::vector<std::string> &targets, const BenchInputs &inputs,
                               const CompilerLibrary &compiler);

void writeBaseline(const InstructionCounts &counts, const std::filesystem::path &file);

/// Prints what differs by more than `tolerance`, a fraction; false when a count rose that much, or
/// when the file lacks one or has one too many.
bool checkBaseline(const InstructionCounts &counts, const std::filesystem::path &file,
                   double tolerance);

} // namespace nanobragg
#endif
