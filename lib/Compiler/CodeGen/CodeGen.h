// LLVM IR to machine code.
#ifndef NB_COMPILER_CODEGEN_H
#define NB_COMPILER_CODEGEN_H

#include "lib/Target/GpuVendor.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace mlir::nb {

/// A CPU or GPU to generate code for.
struct Target {
  std::string triple, cpu, features;
  bool gridOnCpu = false; ///< the program of a GPU, its grid as loops of the CPU
  bool hostOfGpu = false; ///< what a GPU's kernel needs on the host, of any processor
  const nanobragg::GpuVendor *vendor = nullptr; ///< of a GPU; null: a CPU
  bool isGPU() const { return vendor; }
  /// Triple and CPU: what a kernel's descriptor says.
  std::string toString() const { return triple + " " + cpu + (gridOnCpu ? " gpu-on-cpu" : ""); }
};

/// "native" is this machine, and so is "gpu-on-cpu", for the program of a GPU; "aarch64" and
/// "aarch64-CPU" are 64-bit Arm Linux; "sm_NN" are
/// NVIDIA's chips (lib/Target/GpuVendor.h), "host-of-gpu" is the host's part of their kernels;
/// other names are LLVM CPU names of the host's architecture.
llvm::Expected<Target> resolveTarget(llvm::StringRef name);

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Target &target);

/// Instruction sets that code for the target may use, as nb_kernel_descriptor::features.
std::string featuresOf(llvm::TargetMachine &machine);

/// Lanes of 64-bit elements that the target's vector registers hold.
int64_t lanesFor(llvm::TargetMachine &machine);

/// Pixels that a kernel computes at once: two registers of f64 lanes where there are registers for
/// that, so that one group's latencies hide behind the other's; one register of f32 lanes.
int64_t pixelsAtOnce(llvm::TargetMachine &machine, llvm::StringRef precision);

/// Does the target have AVX-512's estimates of reciprocals?
bool hasEstimates(llvm::TargetMachine &machine);

/// Sets triple, data layout and per-function target attributes, and runs LLVM's optimizations.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Assembly text or a relocatable object.
llvm::Expected<llvm::SmallVector<char, 0>>
emitCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type);

} // namespace mlir::nb

#endif
