#include "lib/Compiler/Pipelines/Pipelines.h"

#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nb;

using nanobragg::Derivative;

void nb::populateDerivative(OpPassManager &pm, const Derivative &derivative) {
  if (derivative.mode == Derivative::Mode::Value)
    return;
  DifferentiateOptions options;
  options.mode = derivative.modeName();
  options.parameters.assign(derivative.parameters.begin(), derivative.parameters.end());
  options.directions = unsigned(derivative.tangents);
  pm.addNestedPass<func::FuncOp>(createRemoveBranches());
  pm.addPass(createDifferentiate(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void nb::populateFusion(OpPassManager &pm, const Derivative &derivative) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createEraseProbes());
  func.addPass(createFuseResponse());
  func.addPass(createCSEPass());
  func.addPass(createHoistInvariants());
  if (derivative.mode == Derivative::Mode::Value) {
    func.addPass(createRemoveBranches());
  } else {
    // A hoisted program has the faster derivative, and the derivative its own invariants. The value
    // and its derivative meet first, lest their sums are split in different places.
    populateDerivative(pm, derivative);
    pm.addNestedPass<func::FuncOp>(createFuse());
    pm.addNestedPass<func::FuncOp>(createHoistInvariants());
  }
  pm.addNestedPass<func::FuncOp>(createFuse());
}

void nb::populateKernel(OpPassManager &pm, const CpuPipelineOptions &options) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createSetPrecision(SetPrecisionOptions{options.precision}));
  func.addPass(createPeelMillerIndex());
  func.addPass(createVectorize(VectorizeOptions{options.width}));
  func.addPass(createConvertNBToLoops());
  func.addPass(createConvertNBToArith(ConvertNBToArithOptions{options.estimates}));
  func.addPass(createCSEPass());
  pm.addPass(createOutlineKernel());
}

void nb::populateLLVM(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void nb::populateCpuPipeline(OpPassManager &pm, const CpuPipelineOptions &options) {
  populateFusion(pm);
  populateKernel(pm, options);
  populateLLVM(pm);
}

void nb::populateGpuKernel(OpPassManager &pm, StringRef precision) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  func.addPass(createSetPrecision(SetPrecisionOptions{precision.str()}));
  func.addPass(createPeelMillerIndex());
  func.addPass(createConvertNBToLoops(ConvertNBToLoopsOptions{/*concurrent=*/true}));
  func.addPass(createConvertNBToArith());
  func.addPass(createCSEPass());
  pm.addPass(createOutlineKernel());
  pm.addPass(createNBToGPU());
  pm.addPass(createRelieveRegisters());
}

void nb::populateNVVM(OpPassManager &pm, const GpuPipelineOptions &options) {
  pm.addPass(createSumOverWarps());
  // Before anything can make the launch share values with its surroundings.
  pm.addPass(createGpuKernelOutliningPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.features = options.features;
  pm.addPass(createGpuNVVMAttachTarget(target));
  OpPassManager &gpu = pm.nest<gpu::GPUModuleOp>();
  gpu.addPass(createSCFToControlFlowPass());
  gpu.addPass(createConvertVectorToLLVMPass());
  gpu.addPass(createGPUToNVVM());
  gpu.addPass(createReconcileUnrealizedCastsPass());
}

void nb::populateGpuPipeline(OpPassManager &pm, const GpuPipelineOptions &options) {
  populateFusion(pm);
  populateGpuKernel(pm, options.precision);
  populateNVVM(pm, options);
}

void nb::populateInterpreterPipeline(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void nb::registerPipelines() {
  PassPipelineRegistration<>(
      "nb-interpreter-pipeline",
      "an nb program as the interpreter runs it: simplified, with its probes, nothing moved",
      populateInterpreterPipeline);
  PassPipelineRegistration<CpuPipelineOptions>(
      "nb-cpu-pipeline", "an nb program to the LLVM dialect: one fused, vectorized CPU kernel",
      populateCpuPipeline);
  PassPipelineRegistration<GpuPipelineOptions>(
      "nb-gpu-pipeline", "an nb program to the NVVM dialect: one fused GPU kernel",
      populateGpuPipeline);
}
