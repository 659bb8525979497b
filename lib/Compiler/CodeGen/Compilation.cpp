#include "lib/Compiler/CodeGen/Compilation.h"

#include "lib/Compiler/CodeGen/DescribeFunction.h"
#include "lib/Compiler/CodeGen/DeviceMemory.h"
#include "lib/Compiler/CodeGen/DeviceRegisters.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/DumpIR.h"
#include "lib/Compiler/CodeGen/FixParameters.h"
#include "lib/Conversion/Passes.h"
#include "lib/Frontend/Frontend.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

Compilation::Compilation(const CompileOptions &options, MLIRContext &context, ModuleContext shared)
    : moduleContext(shared ? std::move(shared) : std::make_shared<llvm::LLVMContext>()),
      options(options), context(context) {}

std::string Compilation::arithmetic() const {
  const bool derives = options.derivative.mode != nanobragg::Derivative::Mode::Value;
  return derives && options.precision == "mixed" ? "f64" : options.precision;
}

/// Finds the target and loads the dialects.
llvm::Error Compilation::prepare() {
  if (options.precision != "f64" && options.precision != "mixed" && options.precision != "f32")
    return createStringError("unknown precision '" + options.precision +
                             "': expected f64, mixed or f32");
  auto resolved = resolveTarget(options.target);
  if (!resolved)
    return resolved.takeError();
  target = *resolved;
  auto created = createTargetMachine(target);
  if (!created)
    return created.takeError();
  machine = std::move(*created);
  pipeline.precision = arithmetic();
  pipeline.width = pixelsAtOnce(*machine, arithmetic());
  pipeline.estimates = hasEstimates(*machine);
  gpuPipeline.chip = target.cpu;
  gpuPipeline.features = target.features;

  DialectRegistry registry;
  registerCompilerDialects(registry);
  context.appendDialectRegistry(registry);
  loadFrontendDialects(context);
  return llvm::Error::success();
}

Expected<std::unique_ptr<Compilation>> Compilation::start(const nanobragg::ProgramVariant &variant,
                                                          const CompileOptions &options,
                                                          ModuleContext shared) {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  std::unique_ptr<Compilation> result(new Compilation(options, *context, std::move(shared)));
  result->ownContext = std::move(context);
  if (llvm::Error error = result->prepare())
    return error;
  result->program = buildProgram(result->context, variant);
  if (llvm::Error error = fixParameters(*result->program, options.fixed))
    return error;
  return result;
}

Expected<std::unique_ptr<Compilation>>
Compilation::start(ModuleOp program, const CompileOptions &options, ModuleContext shared) {
  std::unique_ptr<Compilation> result(
      new Compilation(options, *program.getContext(), std::move(shared)));
  if (llvm::Error error = result->prepare())
    return error;
  result->program = program.clone();
  if (llvm::Error error = fixParameters(*result->program, options.fixed))
    return error;
  return result;
}

void Compilation::populate(OpPassManager &pm) const {
  if (options.engine == nanobragg::Engine::Fused)
    return populateFusion(pm, options.derivative);
  populateInterpreterPipeline(pm);
  populateDerivative(pm, options.derivative);
}

llvm::Error Compilation::runPasses(llvm::function_ref<void(OpPassManager &)> populate) {
  PassManager passes(&context);
  passes.enableVerifier(!options.dumpIR.empty());
  populate(passes);
  if (!options.dumpIR.empty())
    if (llvm::Error error = dumpIRAfterEachPass(passes, *program, options.dumpIR))
      return error;
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  if (failed(passes.run(*program)))
    return createStringError("compiling the program failed: " + message);
  return llvm::Error::success();
}

namespace {
/// Describes the kernel while it still is a function: between the nb-level passes, which may change
/// its signature, and those that take it apart.
class DescribePass : public PassWrapper<DescribePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DescribePass)
  DescribePass(StringRef name, KernelDescription &description)
      : name(name), description(description) {}

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>(name);
    if (!function) {
      auto found = findImageFunction(getOperation());
      if (!found)
        return fail(found.takeError());
      function = *found;
    }
    auto described = describeFunction(function);
    if (!described)
      return fail(described.takeError());
    description = std::move(*described);
  }

private:
  void fail(llvm::Error error) {
    emitError(UnknownLoc::get(&getContext()), llvm::toString(std::move(error)));
    signalPassFailure();
  }

  std::string name;
  KernelDescription &description;
};
} // namespace

namespace {
/// Leaves what a GPU's kernel needs on the host.
class EraseLaunchesPass : public PassWrapper<EraseLaunchesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EraseLaunchesPass)
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function.walk([](gpu::LaunchOp) { return WalkResult::interrupt(); }).wasInterrupted())
        function.erase();
  }
};
} // namespace

llvm::Error Compilation::lower(bool fused, llvm::function_ref<void(llvm::Module &)> complete,
                               StringRef name) {
  // For tests of what callers do when compiling fails.
  if (const char *injected = std::getenv("NB_TEST_COMPILE_ERROR"))
    return createStringError(std::string(injected));
  auto populate = [&](OpPassManager &pm) {
    if (!fused)
      populateFusion(pm, options.derivative);
    pm.addPass(std::make_unique<DescribePass>(name, description));
    if (target.isGPU()) {
      populateGpuKernel(pm, arithmetic());
      populateNVVM(pm, gpuPipeline);
      return;
    }
    if (target.gridOnCpu) {
      populateGpuKernel(pm, arithmetic());
      pm.addPass(createGPUToLoops());
    } else if (target.hostOfGpu) {
      populateGpuKernel(pm, arithmetic());
      pm.addPass(std::make_unique<EraseLaunchesPass>());
    } else {
      populateKernel(pm, pipeline);
    }
    populateLLVM(pm);
  };
  if (auto error = runPasses(populate))
    return error;
  description.precision = options.precision;
  description.target = target.toString();
  description.features = features();
  Operation *translated = *program;
  if (target.isGPU())
    translated = *program->getOps<gpu::GPUModuleOp>().begin();
  module = translateModuleToLLVMIR(translated, *moduleContext, "kernel");
  if (!module)
    return createStringError("translating the program to LLVM IR failed");
  if (complete)
    complete(*module);
  optimize(*module, *machine);
  if (target.isGPU()) {
    describeDeviceMemory(*module);
    limitRegisters(*module);
  }
  return llvm::Error::success();
}

std::string Compilation::text() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  return text;
}
