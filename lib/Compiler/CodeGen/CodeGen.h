// LLVM IR to machine code.
#ifndef NB_COMPILER_CODEGEN_H
#define NB_COMPILER_CODEGEN_H

#include "lib/Target/KernelTarget.h"
#include "nanobragg/Precision.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace mlir::nb {

/// A CPU or GPU to generate code for, as LLVM calls it.
struct Target {
  nanobragg::KernelTarget what;
  std::string triple, cpu, features;
  bool is(nanobragg::KernelTarget::Kind kind) const { return what.kind == kind; }
  bool isGPU() const { return is(nanobragg::KernelTarget::Kind::Chip); }
  bool isTwin() const { return is(nanobragg::KernelTarget::Kind::GpuOnCpu); }
  /// Is its program that of a GPU, or of one on the processor, or the host's part?
  bool hasGrid() const {
    return isGPU() || isTwin() || is(nanobragg::KernelTarget::Kind::HostOfGpu);
  }
  /// Triple and CPU: what a kernel's descriptor says.
  std::string toString() const {
    return triple + " " + cpu + (isTwin() ? " " + what.toString() : "");
  }
};

Target resolveTarget(const nanobragg::KernelTarget &target);

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Target &target);

/// Instruction sets that code for the target may use, as nb_kernel_descriptor::features.
std::string featuresOf(llvm::TargetMachine &machine);

/// Lanes of 64-bit elements that the target's vector registers hold.
int64_t lanesFor(llvm::TargetMachine &machine);

/// Pixels that a kernel computes at once: two registers of lanes, so that one group's latencies
/// hide behind the other's. That spills registers where there are 16 of them, and is faster still:
/// docs/benchmarks/lanes.md.
int64_t pixelsAtOnce(llvm::TargetMachine &machine, nanobragg::Precision precision);

/// The same where a second register of lanes spills others, or stands for pixels that are dark.
int64_t fewPixelsAtOnce(llvm::TargetMachine &machine, nanobragg::Precision precision);

/// Does the target have AVX-512's estimates of reciprocals?
bool hasEstimates(llvm::TargetMachine &machine);

/// Sets triple, data layout and per-function target attributes, and runs LLVM's optimizations.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Assembly text or a relocatable object.
llvm::Expected<llvm::SmallVector<char, 0>>
emitCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type);

} // namespace mlir::nb

#endif
