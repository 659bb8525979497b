#include "lib/Compiler/Pipelines/Stages.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Conversion/Passes.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::nb;
using func::FuncOp;

void stages::fixCounts(Pipeline &p, ArrayRef<nanobragg::FixedCount> counts) {
  FixCountsOptions options;
  for (const nanobragg::FixedCount &count : counts)
    options.counts.push_back(count.toString());
  p.stage(Stage::Counts).add(createFixCounts(options));
}

void stages::simplify(Pipeline &p) {
  p.stage(Stage::Simplify);
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
}

void stages::average(Pipeline &p) { p.stage(Stage::Average).addOn<FuncOp>(createCloseAverages()); }

/// Does the program have averages in closed form, not closed yet?
static bool hasOpenAverages(ModuleOp program) {
  const auto isOpen = [](SumOp sum) {
    auto function = sum->getParentOfType<FuncOp>();
    bool draws = false;
    for (unsigned i = 0; i != sum.getCounts().size(); ++i)
      draws |= sum.getDimension(i) == Dimension::draw;
    return draws && function && !function->hasAttr(names::draws) ? WalkResult::interrupt()
                                                                 : WalkResult::advance();
  };
  return program->walk(isOpen).wasInterrupted();
}

void stages::averageFirst(Pipeline &passes, ModuleOp program) {
  const auto closes = [](const PipelineStep &step) {
    return stageOf(step.name()) == Stage::Average;
  };
  if (llvm::any_of(passes.steps, closes) || !hasOpenAverages(program))
    return;
  Pipeline first;
  average(first);
  passes.insert(0, std::move(first));
}

void stages::fuseResponse(Pipeline &p) {
  p.stage(Stage::Response);
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

void stages::hoist(Pipeline &p) { addHoisting(p.stage(Stage::Hoist)); }

void stages::removeBranches(Pipeline &p) {
  p.stage(Stage::Branches).addOn<FuncOp>(createRemoveBranches());
}

void stages::differentiate(Pipeline &p, const nanobragg::Derivative &derivative) {
  DifferentiateOptions options;
  options.mode = derivative.mode;
  options.parameters.assign(derivative.parameters.begin(), derivative.parameters.end());
  options.directions = unsigned(derivative.tangents);
  p.stage(Stage::Differentiate);
  p.add(createDifferentiate(options));
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
}

void stages::hoistDerivative(Pipeline &p) {
  p.stage(Stage::HoistDerivative).addOn<FuncOp>(createFuse());
  addHoisting(p);
}

void stages::fuse(Pipeline &p) { p.stage(Stage::Fuse).addOn<FuncOp>(createFuse()); }

void stages::probe(Pipeline &p, StringRef patterns) {
  InsertProbesOptions byName, byOp;
  for (StringRef pattern : llvm::split(patterns, ','))
    (pattern.contains('.') ? byOp.ops : byName.names).push_back(pattern.str());
  p.stage(Stage::Probe);
  if (!byName.names.empty())
    p.add(createInsertProbes(byName));
  if (!byOp.ops.empty())
    p.add(createInsertProbes(byOp));
}

void stages::setPrecision(Pipeline &p, const ArithmeticOptions &options) {
  p.stage(Stage::Precision)
      .addOn<FuncOp>(createSetPrecision(SetPrecisionOptions{options.precision}));
}

void stages::peel(Pipeline &p) { p.stage(Stage::Peel).addOn<FuncOp>(createPeelMillerIndex()); }

void stages::cull(Pipeline &p) { p.stage(Stage::Cull).addOn<FuncOp>(createCull()); }

void stages::vectorize(Pipeline &p, int64_t width) {
  p.stage(Stage::Lanes).addOn<FuncOp>(createVectorize(VectorizeOptions{width}));
}

void stages::lowerLoops(Pipeline &p, int64_t warp) {
  p.stage(Stage::Loops).addOn<FuncOp>(createConvertNBToLoops(ConvertNBToLoopsOptions{warp}));
}

void stages::lowerArithmetic(Pipeline &p, const ArithmeticOptions &options) {
  p.stage(Stage::Arith);
  p.addOn<FuncOp>(createConvertNBToArith(ConvertNBToArithOptions{options.estimates}));
  p.addOn<FuncOp>(createCSEPass());
}

void stages::outline(Pipeline &p) { p.stage(Stage::Outline).add(createOutlineKernel()); }

void stages::launch(Pipeline &p, int64_t threads, int64_t warp) {
  p.stage(Stage::Gpu);
  p.add(createNBToGPU(NBToGPUOptions{threads, warp}));
  p.add(createRelieveRegisters());
}

void stages::lowerGrid(Pipeline &p) { p.stage(Stage::Grid).add(createGPUToLoops()); }

void stages::keepHost(Pipeline &p) { p.stage(Stage::Host).add(createEraseLaunches()); }

/// The passes of MLIR that lower loops and memory.
static void addUpstreamLowerings(Pipeline &p) {
  p.add(memref::createExpandStridedMetadataPass());
  p.add(createLowerAffinePass());
}

void stages::lowerToLLVM(Pipeline &p) {
  p.stage(Stage::LLVM);
  addUpstreamLowerings(p);
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
  p.add(createSCFToControlFlowPass());
  p.add(createConvertVectorToLLVMPass());
  p.add(createConvertToLLVMPass());
  p.add(createReconcileUnrealizedCastsPass());
}

/// The launches as kernels of a gpu.module.
static void addDeviceModule(Pipeline &p) {
  p.add(createSumOverWarps());
  // Before anything can make the launch share values with its surroundings.
  p.add(createGpuKernelOutliningPass());
  addUpstreamLowerings(p);
  p.add(createCanonicalizerPass());
  p.add(createCSEPass());
}

/// `conversion` makes LLVM's of the module, whose loops are branches by then.
static void convertDevice(Pipeline &p, std::unique_ptr<Pass> conversion) {
  p.addOn<gpu::GPUModuleOp>(createSCFToControlFlowPass());
  p.addOn<gpu::GPUModuleOp>(createConvertVectorToLLVMPass());
  p.addOn<gpu::GPUModuleOp>(std::move(conversion));
  p.addOn<gpu::GPUModuleOp>(createReconcileUnrealizedCastsPass());
}

void stages::lowerToNVVM(Pipeline &p, const ChipOptions &options) {
  p.stage(Stage::NVVM);
  addDeviceModule(p);
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  target.features = options.features;
  p.add(createGpuNVVMAttachTarget(target));
  convertDevice(p, createGPUToNVVM(GPUToNVVMOptions{options.blocks}));
}

void stages::lowerToSPIRV(Pipeline &p, int64_t warp) {
  p.stage(Stage::SPIRV);
  addDeviceModule(p);
  convertDevice(p, createGPUToSPIRV(GPUToSPIRVOptions{warp}));
}

void stages::lowerToROCDL(Pipeline &p, StringRef chip) {
  p.stage(Stage::ROCDL);
  addDeviceModule(p);
  convertDevice(p, createGPUToROCDL(GPUToROCDLOptions{chip.str()}));
}
