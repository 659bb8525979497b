#include "lib/Compiler/Pipelines/Stages.h"

#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nb;
using func::FuncOp;

void stages::simplify(Pipeline &p) {
  p.stage("simplify");
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
}

void stages::fuseResponse(Pipeline &p) {
  p.stage("response");
  p.addOn<FuncOp>(createEraseProbes());
  p.add(createSplitResponse());
  p.addOn<FuncOp>(createFuseResponse());
  p.addOn<FuncOp>(createCSEPass());
}

/// Whatever has become independent of a loop leaves it at once.
static void addHoisting(Pipeline &p) {
  p.addOn<FuncOp>(createHoistInvariants());
  p.addOn<FuncOp>(createTabulateInvariants());
  p.addOn<FuncOp>(createSplitSums());
  p.addOn<FuncOp>(createHoistInvariants());
  p.addOn<FuncOp>(createFactorSums());
  p.addOn<FuncOp>(createHoistInvariants());
}

void stages::hoist(Pipeline &p) { addHoisting(p.stage("hoist")); }

void stages::removeBranches(Pipeline &p) {
  p.stage("branches").addOn<FuncOp>(createRemoveBranches());
}

void stages::differentiate(Pipeline &p, const nanobragg::Derivative &derivative) {
  DifferentiateOptions options;
  options.mode = derivative.modeName();
  options.parameters.assign(derivative.parameters.begin(), derivative.parameters.end());
  options.directions = unsigned(derivative.tangents);
  p.stage("differentiate");
  p.add(createDifferentiate(options));
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
}

void stages::hoistDerivative(Pipeline &p) {
  p.stage("hoist-derivative").addOn<FuncOp>(createFuse());
  addHoisting(p);
}

void stages::fuse(Pipeline &p) { p.stage("fuse").addOn<FuncOp>(createFuse()); }

void stages::probe(Pipeline &p, StringRef patterns) {
  InsertProbesOptions byName, byOp;
  for (StringRef pattern : llvm::split(patterns, ','))
    (pattern.contains('.') ? byOp.ops : byName.names).push_back(pattern.str());
  p.stage("probe");
  if (!byName.names.empty())
    p.add(createInsertProbes(byName));
  if (!byOp.ops.empty())
    p.add(createInsertProbes(byOp));
}

void stages::setPrecision(Pipeline &p, const ArithmeticOptions &options) {
  p.stage("precision").addOn<FuncOp>(createSetPrecision(SetPrecisionOptions{options.precision}));
}

void stages::peel(Pipeline &p) { p.stage("peel").addOn<FuncOp>(createPeelMillerIndex()); }

void stages::cull(Pipeline &p) { p.stage("cull").addOn<FuncOp>(createCull()); }

void stages::vectorize(Pipeline &p, int64_t width) {
  p.stage("lanes").addOn<FuncOp>(createVectorize(VectorizeOptions{width}));
}

void stages::lowerLoops(Pipeline &p, bool concurrent) {
  p.stage("loops").addOn<FuncOp>(createConvertNBToLoops(ConvertNBToLoopsOptions{concurrent}));
}

void stages::lowerArithmetic(Pipeline &p, const ArithmeticOptions &options) {
  p.stage("arith");
  p.addOn<FuncOp>(createConvertNBToArith(ConvertNBToArithOptions{options.estimates}));
  p.addOn<FuncOp>(createCSEPass());
}

void stages::outline(Pipeline &p) { p.stage("outline").add(createOutlineKernel()); }

void stages::launch(Pipeline &p, int64_t threads) {
  p.stage("gpu");
  p.add(createNBToGPU(NBToGPUOptions{threads}));
  p.add(createRelieveRegisters());
}

void stages::lowerGrid(Pipeline &p) { p.stage("grid").add(createGPUToLoops()); }

void stages::keepHost(Pipeline &p) { p.stage("host").add(createEraseLaunches()); }

void stages::lowerToLLVM(Pipeline &p) {
  p.stage("llvm");
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
  p.add(createSCFToControlFlowPass());
  p.add(createConvertVectorToLLVMPass());
  p.add(createConvertToLLVMPass());
  p.add(createReconcileUnrealizedCastsPass());
}

void stages::lowerToNVVM(Pipeline &p, const ChipOptions &options) {
  p.stage("nvvm");
  p.add(createSumOverWarps());
  // Before anything can make the launch share values with its surroundings.
  p.add(createGpuKernelOutliningPass());
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.features = options.features;
  p.add(createGpuNVVMAttachTarget(target));
  p.addOn<gpu::GPUModuleOp>(createSCFToControlFlowPass());
  p.addOn<gpu::GPUModuleOp>(createConvertVectorToLLVMPass());
  p.addOn<gpu::GPUModuleOp>(createGPUToNVVM(GPUToNVVMOptions{options.blocks}));
  p.addOn<gpu::GPUModuleOp>(createReconcileUnrealizedCastsPass());
}
