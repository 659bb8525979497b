// Named pass pipelines.
#ifndef NB_COMPILER_PIPELINES_H
#define NB_COMPILER_PIPELINES_H

#include "lib/Experiment/Derivative.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace mlir::nb {

/// Options of --nb-cpu-pipeline; the command line and the compiler library share them.
struct CpuPipelineOptions : PassPipelineOptions<CpuPipelineOptions> {
  Option<int64_t> width{*this, "width", llvm::cl::desc("lanes: pixels computed at once"),
                        llvm::cl::init(8)};
  Option<std::string> precision{*this, "precision", llvm::cl::desc("f64, mixed or f32"),
                                llvm::cl::init("f64")};
  Option<bool> estimates{*this, "estimates",
                         llvm::cl::desc("the target has AVX-512's estimates of reciprocals"),
                         llvm::cl::init(false)};
};

/// Options of --nb-gpu-pipeline.
struct GpuPipelineOptions : PassPipelineOptions<GpuPipelineOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("NVIDIA chip"), llvm::cl::init("sm_90")};
  Option<std::string> features{*this, "features", llvm::cl::desc("version of PTX"),
                               llvm::cl::init("+ptx78")};
  Option<std::string> precision{*this, "precision", llvm::cl::desc("f64, mixed or f32"),
                                llvm::cl::init("f64")};
};

/// Only what nb-differentiate needs, nothing moved: for the interpreter. Nothing for the value
/// alone.
void populateDerivative(OpPassManager &pm, const nanobragg::Derivative &derivative);
/// nb-level passes, up to and including fusion: what the interpreter can still run.
void populateFusion(OpPassManager &pm, const nanobragg::Derivative &derivative = {});
/// Lanes, loops, arithmetic and the kernel's entry points.
void populateKernel(OpPassManager &pm, const CpuPipelineOptions &options);
/// From there to the LLVM dialect.
void populateLLVM(OpPassManager &pm);
/// All of the above: --nb-cpu-pipeline.
void populateCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options);

/// From fused nb to entry points in which one gpu.launch renders a tile.
void populateGpuKernel(OpPassManager &pm, StringRef precision);
/// From there to a gpu.module in the NVVM dialect. What runs on the host is left as it is.
void populateNVVM(OpPassManager &pm, const GpuPipelineOptions &options);
/// Fusion and these: --nb-gpu-pipeline.
void populateGpuPipeline(OpPassManager &pm, const GpuPipelineOptions &options);

/// The program as the interpreter runs it, --nb-interpreter-pipeline: probes stay, nothing moves.
void populateInterpreterPipeline(OpPassManager &pm);

void registerPipelines();

} // namespace mlir::nb

#endif
