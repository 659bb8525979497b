#include "lib/Compiler/CodeGen/Compilation.h"

#include "lib/Compiler/CodeGen/DescribeFunction.h"
#include "lib/Compiler/CodeGen/DeviceMemory.h"
#include "lib/Compiler/CodeGen/DeviceRegisters.h"
#include "lib/Compiler/CodeGen/FixParameters.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Frontend/Frontend.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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

Pipeline Compilation::pipeline() const {
  const std::string derivative = options.derivative.toString();
  if (options.engine != nanobragg::Engine::Fused) {
    InterpreterPipelineOptions interpreted;
    interpreted.derivative = derivative;
    return interpreterPipeline(interpreted);
  }
  if (target.isGPU() || target.gridOnCpu || target.hostOfGpu) {
    using Part = GpuPipelineOptions::Part;
    GpuPipelineOptions gpu;
    gpu.derivative = derivative;
    gpu.precision = arithmetic();
    gpu.part = target.gridOnCpu ? Part::Loops : target.hostOfGpu ? Part::Host : Part::Device;
    gpu.chip = target.cpu;
    gpu.features = target.features;
    return gpuPipeline(gpu);
  }
  CpuPipelineOptions cpu;
  cpu.derivative = derivative;
  cpu.precision = arithmetic();
  cpu.width = pixelsAtOnce(*machine, arithmetic());
  cpu.estimates = hasEstimates(*machine);
  return cpuPipeline(cpu);
}

llvm::Error Compilation::run(Pipeline passes) {
  IRDump *files = nullptr;
  if (!options.dumpIR.empty()) {
    if (!dump) {
      auto created = IRDump::create(dumpFolderOf(options));
      if (!created)
        return created.takeError();
      dump = std::move(*created);
      if (llvm::Error error = dump->writeInput(*program, options.dumpedFrom))
        return error;
    }
    files = &*dump;
  }
  if (llvm::Error error = runPipeline(std::move(passes), *program, files))
    return createStringError("compiling the program failed: " + toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error Compilation::fuse() {
  Pipeline passes = pipeline();
  if (options.engine == nanobragg::Engine::Fused)
    if (llvm::Error error = passes.endBefore(firstLoweringStage))
      return error;
  return run(std::move(passes));
}

llvm::Error Compilation::runUntil(StringRef untilBefore, StringRef untilAfter) {
  Pipeline passes = pipeline();
  if (llvm::Error error = passes.keep(untilBefore, untilAfter))
    return error;
  return run(std::move(passes));
}

/// Describes the kernel while it still is a function: between the nb-level passes, which may change
/// its signature, and those that take it apart.
llvm::Error Compilation::describe(StringRef name) {
  auto function = program->lookupSymbol<func::FuncOp>(name);
  if (!function) {
    auto found = findImageFunction(*program);
    if (!found)
      return found.takeError();
    function = *found;
  }
  auto described = describeFunction(function);
  if (!described)
    return described.takeError();
  description = std::move(*described);
  return llvm::Error::success();
}

llvm::Error Compilation::lower(bool fused, llvm::function_ref<void(llvm::Module &)> complete,
                               StringRef name) {
  // For tests of what callers do when compiling fails.
  if (const char *injected = std::getenv("NB_TEST_COMPILE_ERROR"))
    return createStringError(std::string(injected));
  if (!fused)
    if (llvm::Error error = fuse())
      return error;
  if (llvm::Error error = describe(name))
    return createStringError("compiling the program failed: " + toString(std::move(error)));
  Pipeline lowering = pipeline();
  if (llvm::Error error = lowering.beginAt(firstLoweringStage))
    return error;
  if (llvm::Error error = run(std::move(lowering)))
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
