#include "lib/Compiler/CodeGen/Compilation.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/Assemble.h"
#include "lib/Compiler/CodeGen/DescribeFunction.h"
#include "lib/Compiler/CodeGen/DeviceRegisters.h"
#include "lib/Compiler/CodeGen/InstructionNames.h"
#include "lib/Compiler/CodeGen/KeepLines.h"
#include "lib/Compiler/CodeGen/ParameterVariables.h"
#include "lib/Compiler/CodeGen/ProgramLines.h"
#include "lib/Compiler/CodeGen/Progress.h"
#include "lib/Compiler/CodeGen/Stats/DeviceMemory.h"
#include "lib/Compiler/CodeGen/Stats/DeviceNotes.h"
#include "lib/Compiler/Pipelines/Dialects.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"
#include "lib/Compiler/Pipelines/PassReport.h"
#include "lib/Compiler/Pipelines/RegisterPasses.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Transforms/FixCounts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

Compilation::Compilation(const CompileOptions &options, MLIRContext &context, ModuleContext shared)
    : moduleContext(shared ? std::move(shared) : std::make_shared<llvm::LLVMContext>()),
      options(options), context(context) {}

/// Finds the target and loads the dialects.
llvm::Error Compilation::prepare() {
  if (!options.otherTargets.empty())
    return createStringError("several targets are for the file of a kernel: name one");
  target = resolveTarget(options.target);
  auto created = createTargetMachine(target);
  if (!created)
    return created.takeError();
  machine = std::move(*created);

  DialectRegistry registry;
  registerCompilerDialects(registry);
  if (options.passes.any())
    registerPassesOnce();
  if (auto error = loadPlugins(options.passes.plugins, registry))
    return error;
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
  {
    const Phase phase("frontend");
    result->program = buildProgram(result->context, variant, options.cull);
  }
  if (llvm::Error error = fixCounts(*result->program, options.fixed))
    return error;
  if (!options.programFile.empty())
    result->programText = numberLines(*result->program);
  return result;
}

/// The pipelines leave a program that spreads light computing another image, so that callers have
/// to ask for that themselves.
static llvm::Error refuseSpread(ModuleOp program, const CompileOptions &options) {
  if (options.engine != nanobragg::Engine::Fused || !options.passes.pipeline.empty())
    return llvm::Error::success();
  const bool spreads =
      program->walk([](NeighbourResponse) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!spreads)
    return llvm::Error::success();
  return createStringError(
      "the program spreads light (nb.point_spread), which no kernel does: "
      "interpret it (--no-fuse), or compile what nb-split-response leaves of it");
}

llvm::Error nb::inlineCalls(ModuleOp program) {
  const bool calls =
      program->walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!calls)
    return llvm::Error::success();
  FlaggedPassManager passes(program.getContext());
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createSymbolDCEPass());
  return succeeded(passes.run(program))
             ? llvm::Error::success()
             : createStringError("the functions that the program calls cannot be inlined");
}

Expected<std::unique_ptr<Compilation>>
Compilation::start(ModuleOp program, const CompileOptions &options, ModuleContext shared) {
  if (llvm::Error error = refuseSpread(program, options))
    return error;
  std::unique_ptr<Compilation> result(
      new Compilation(options, *program.getContext(), std::move(shared)));
  if (llvm::Error error = result->prepare())
    return error;
  result->program = program.clone();
  if (llvm::Error error = inlineCalls(*result->program))
    return error;
  if (!options.programFile.empty() && !result->target.isGPU()) // whose parts have lines already
    result->programText = numberLines(*result->program);
  if (llvm::Error error = fixCounts(*result->program, options.fixed))
    return error;
  return result;
}

/// Blocks of what is lit, which are better small; averages, whose lanes have not been measured.
static bool hasFewLanes(ModuleOp program) {
  return llvm::any_of(program.getOps<func::FuncOp>(), [](func::FuncOp function) {
    bool averages = false;
    for (unsigned i = 0; i != function.getNumArguments(); ++i)
      averages |= argumentName(function, i) == "draws";
    return averages || function->hasAttr(names::cull);
  });
}

static bool isOfReflections(ModuleOp program) {
  return llvm::any_of(program.getOps<func::FuncOp>(),
                      [](func::FuncOp function) { return function->hasAttr(names::reflections); });
}

Pipeline Compilation::pipeline() const {
  if (options.engine != nanobragg::Engine::Fused) {
    InterpreterPipelineOptions interpreted;
    interpreted.derivative = options.derivative;
    return interpreterPipeline(interpreted);
  }
  if (target.hasGrid()) {
    using Part = GpuPipelineOptions::Part;
    GpuPipelineOptions gpu;
    gpu.derivative = options.derivative;
    gpu.precision = options.precision;
    gpu.part = target.isTwin() ? Part::Loops : target.isGPU() ? Part::Device : Part::Host;
    gpu.warp = target.what.threadsOfWarp();
    gpu.chip = target.what.name;
    gpu.features = target.features;
    return gpuPipeline(gpu);
  }
  CpuPipelineOptions cpu;
  cpu.derivative = options.derivative;
  cpu.precision = options.precision;
  // Thousands of instructions for each reflection keep the ports busy, and more lanes would spill.
  cpu.width = isOfReflections(*program) ? lanesFor(*machine)
              : hasFewLanes(*program)   ? fewPixelsAtOnce(*machine, options.precision)
                                        : pixelsAtOnce(*machine, options.precision);
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
  if (isOwn())
    for (const PipelineStep &step : passes.steps)
      ran.push_back(step.name());
  if (llvm::Error error = runPipeline(std::move(passes), *program, files, isOwn()))
    return createStringError("compiling the program failed: " + toString(std::move(error)));
  return llvm::Error::success();
}

/// Does a derivative have to be taken ahead of it?
static bool endsDifferentiable(const PipelineStep &step) {
  const std::optional<Stage> stage = stageOf(step.name());
  return stage && !leavesDifferentiable(*stage);
}

Expected<Pipeline> Compilation::ownPipeline() const {
  auto own = parsePipeline(options.passes.pipeline);
  if (!own)
    return own.takeError();
  const nanobragg::Derivative &derivative = options.derivative;
  const bool derives = options.derives();
  auto marked = llvm::find_if(own->steps, [](const PipelineStep &step) {
    return stageOf(step.name()) == Stage::Differentiate;
  });
  // A program of the user's is differentiated as its pipeline says.
  if (marked != own->steps.end() && (ownContext || options.marksDerivative)) {
    size_t place = marked - own->steps.begin();
    own->steps.erase(marked);
    Pipeline passes;
    if (derives)
      stages::differentiate(passes, derivative);
    // A text of --print-pipeline has what simplifies the derivative behind it.
    for (size_t i = 1; i < passes.steps.size() && place < own->steps.size() &&
                       own->steps[place].text() == passes.steps[i].text();
         ++i)
      own->steps.erase(own->steps.begin() + place);
    own->insert(place, std::move(passes));
  } else if (derives) {
    Pipeline passes;
    stages::removeBranches(passes);
    stages::differentiate(passes, derivative);
    stages::hoistDerivative(passes);
    stages::fuse(passes);
    own->insert(llvm::find_if(own->steps, endsDifferentiable) - own->steps.begin(),
                std::move(passes));
  }
  stages::averageFirst(*own, *program);
  for (PipelineStep &step : own->steps)
    step.stage = Stage::User;
  return own;
}

Expected<Pipeline> Compilation::opening() const {
  Pipeline first;
  for (StringRef file : llvm::split(options.passes.patterns, ','))
    if (!file.empty())
      first.steps.push_back({Stage::User, "", nullptr,
                             "builtin.module(nb-apply-patterns{files=" + file.str() + "})"});
  if (!options.passes.pipeline.empty()) {
    auto own = ownPipeline();
    if (!own)
      return own.takeError();
    first.append(std::move(*own));
    return std::move(first);
  }
  Pipeline passes = pipeline();
  if (options.engine == nanobragg::Engine::Fused) {
    // A program that has been lowered continues from its stage.
    if (!ownContext)
      if (auto progress = progressOf(*program); !progress || *progress != Progress::Program) {
        llvm::consumeError(progress.takeError()); // whoever needs a kernel will say it
        return std::move(first);
      }
    if (llvm::Error error = passes.endBefore(Stage::Precision))
      return error;
  }
  first.append(std::move(passes));
  return std::move(first);
}

Expected<Pipeline> Compilation::remaining() const {
  if (options.engine != nanobragg::Engine::Fused)
    return Pipeline();
  auto progress = progressOf(*program);
  if (!progress)
    return progress.takeError();
  auto stage = nextStage(*progress, target);
  if (!stage)
    return stage.takeError();
  if (!*stage)
    return Pipeline();
  Pipeline passes = pipeline();
  if (llvm::Error error = passes.beginAt(**stage))
    return error;
  return std::move(passes);
}

llvm::Error Compilation::differentiate() {
  if (!options.derives())
    return llvm::Error::success();
  Pipeline passes;
  stages::removeBranches(passes);
  stages::differentiate(passes, options.derivative);
  return run(std::move(passes));
}

llvm::Error Compilation::fuse() {
  auto passes = opening();
  return passes ? run(std::move(*passes)) : passes.takeError();
}

Expected<std::string> Compilation::report() {
  auto passes = opening();
  if (!passes)
    return passes.takeError();
  auto runs = runReported(std::move(*passes), *program);
  if (!runs)
    return runs.takeError();
  return reportAsJson(text(), *runs);
}

Expected<std::string> Compilation::pipelineText() {
  auto passes = opening();
  if (!passes)
    return passes.takeError();
  Pipeline all;
  if (!options.fixed.empty())
    stages::fixCounts(all, options.fixed);
  all.append(passes->copy());
  // If the user's passes leave a stage out, the program that they leave shows it.
  if (llvm::Error error = run(std::move(*passes)))
    return error;
  auto rest = remaining();
  if (!rest)
    return rest.takeError();
  all.append(std::move(*rest));
  return all.text();
}

Expected<std::vector<std::string>> Compilation::stageNames() {
  auto passes = opening();
  if (!passes)
    return passes.takeError();
  std::vector<std::string> names;
  auto rest = remainingAfter(std::move(*passes), names);
  return rest ? Expected<std::vector<std::string>>(std::move(names)) : rest.takeError();
}

Expected<Pipeline> Compilation::remainingAfter(Pipeline passes, std::vector<std::string> &names) {
  names = passes.stageNames();
  if (llvm::Error error = run(std::move(passes)))
    return error;
  auto rest = remaining();
  if (rest)
    llvm::append_range(names, rest->stageNames());
  return rest;
}

llvm::Error Compilation::runUntil(StringRef untilBefore, StringRef untilAfter) {
  auto passes = opening();
  if (!passes)
    return passes.takeError();
  StringRef stage = untilBefore.empty() ? untilAfter : untilBefore;
  if (passes->has(stage)) {
    if (llvm::Error error = passes->keep(untilBefore, untilAfter))
      return error;
    return run(std::move(*passes));
  }
  std::vector<std::string> names;
  auto rest = remainingAfter(std::move(*passes), names);
  if (!rest)
    return rest.takeError();
  if (!rest->has(stage))
    return createStringError("there is no stage '" + stage.str() +
                             "' in this pipeline, whose stages are " + llvm::join(names, ", "));
  if (llvm::Error error = rest->keep(untilBefore, untilAfter))
    return error;
  return run(std::move(*rest));
}

/// "a, b, c" with what follows one another twice or more said once: "cse (2)".
static std::string listOf(ArrayRef<std::string> names) {
  std::string text;
  for (size_t i = 0; i != names.size();) {
    size_t end = i;
    while (end != names.size() && names[end] == names[i])
      ++end;
    text += (text.empty() ? "" : ", ") + names[i];
    if (end - i > 1)
      text += " (" + std::to_string(end - i) + ")";
    i = end;
  }
  return text.empty() ? "none" : text;
}

void Compilation::tellPasses() const {
  if (!options.passes.tell || !isOwn())
    return;
  const std::string of = options.derives() ? " of " + options.derivative.toString() : "";
  options.passes.tell("passes" + of + ": " + listOf(ran));
}

/// Describes the kernel while it still is a function: between the nb-level passes, which may change
/// its signature, and those that take it apart.
llvm::Error Compilation::describe(StringRef name) {
  if (DictionaryAttr record = findKernelRecord(*program)) {
    auto described = describeEntryPoints(record);
    if (!described)
      return described.takeError();
    description = std::move(*described);
    return llvm::Error::success();
  }
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
  auto lowering = remaining(); // it knows what is wrong with a program that has no image
  if (!lowering)
    return createStringError("compiling the program failed: " + toString(lowering.takeError()));
  if (llvm::Error error = describe(name))
    return createStringError("compiling the program failed: " + toString(std::move(error)));
  if (llvm::Error error = run(std::move(*lowering)))
    return error;
  tellPasses();
  description.precision = nanobragg::toString(options.precision);
  description.target = target.toString();
  description.features = features();
  Operation *translated = *program;
  if (target.isGPU()) {
    auto devices = program->getOps<gpu::GPUModuleOp>();
    if (devices.empty())
      return createStringError("compiling the program failed: nothing of it is for a GPU");
    translated = *devices.begin();
  }
  if (isOwn())
    if (llvm::Error error = checkTranslatable(translated))
      return createStringError("compiling the program failed: " + toString(std::move(error)));
  const bool named = names != Names::Drop && !target.isGPU();
  if (named)
    namesOfLines = linesOfNames(*program);
  // LLVM's SPIR-V has no lines.
  const bool debugged = !programText.empty() && !named && !llvm::Triple(target.triple).isSPIRV();
  // PTX has directives for lines, with which ptxas makes debug information; for more it would
  // leave out its optimizations.
  const bool linesAlone = llvm::Triple(target.triple).isNVPTX();
  if (debugged && failed(placeLines(*program, options.programFile, linesAlone)))
    return createStringError("the program's lines cannot be made debug information");
  {
    const Phase phase("translate to LLVM IR");
    module = translateModuleToLLVMIR(translated, *moduleContext, "kernel");
  }
  if (!module)
    return createStringError("translating the program to LLVM IR failed");
  if (debugged)
    nameByLines(*module);
  if (debugged && !target.isGPU()) {
    embedText(*module, programText);
    describeParameters(*module, description.parameters);
  }
  if (named)
    nameInstructions(*module, *program, namesOfLines, names == Names::InAssembly);
  if (llvm::Function *reach = module->getFunction(description.function + names::reach.str()))
    description.reaches = !reach->isDeclaration();
  if (complete)
    complete(*module);
  optimize(*module, *machine);
  if (debugged)
    restoreLines(*module);
  if (target.isGPU()) {
    describeDeviceMemory(*module);
    limitRegisters(*module);
  }
  return llvm::Error::success();
}

Expected<llvm::SmallVector<char, 0>> Compilation::code(llvm::CodeGenFileType type) {
  std::optional<KeepLines> keep;
  if (!programText.empty())
    keep.emplace();
  return emitCode(*module, *machine, type);
}

std::string Compilation::tileFunction() const {
  return description.function + (target.isGPU() ? "" : names::runTile.str());
}

Expected<std::string> Compilation::assembly(KernelStats &stats) {
  auto code =
      emitCounted(*module, *machine, llvm::CodeGenFileType::AssemblyFile, tileFunction(), stats);
  if (!code)
    return code.takeError();
  return std::string(code->begin(), code->end());
}

/// Asks the vendor's tools for registers and memory of the kernel.
static llvm::Error findDeviceUse(KernelStats &stats, ArrayRef<char> code, const Target &target) {
  const nanobragg::GpuLanguage language = target.what.vendor()->language;
  if (language == nanobragg::GpuLanguage::SPIRV) {
    stats.noDevice = "not known before the driver compiles the kernel";
    return llvm::Error::success();
  }
  if (language == nanobragg::GpuLanguage::PTX) {
    const StringRef chip = target.what.name;
    auto assembler = Assembler::find(chip);
    if (!assembler)
      return assembler.takeError();
    if (!*assembler) {
      stats.noDevice = "not known: there is no ptxas; install the CUDA toolkit or set NB_PTXAS";
      return llvm::Error::success();
    }
    std::string report;
    if (auto cubin = assembler->assemble(code, chip, &report); !cubin)
      return cubin.takeError();
    auto use = readAssemblerReport(report, stats.function);
    if (!use)
      return use.takeError();
    stats.device = *use;
    return llvm::Error::success();
  }
  auto use = readNotes(code, stats.function);
  if (!use)
    return use.takeError();
  stats.device = *use;
  return llvm::Error::success();
}

Expected<std::string> Compilation::statistics(bool json) {
  KernelStats stats;
  stats.function = tileFunction();
  stats.target = target.toString();
  if (target.isGPU()) {
    stats.unit = "thread";
    stats.chip = findGpuChip(target.what.name);
  }
  const bool object =
      target.isGPU() && target.what.vendor()->language != nanobragg::GpuLanguage::PTX;
  const unsigned threads =
      target.isGPU() ? threadsOfBlock(*module->getFunction(stats.function)) : 0;
  std::optional<KeepLines> keep;
  if (!programText.empty())
    keep.emplace();
  auto code =
      emitCounted(*module, *machine,
                  object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile,
                  stats.function, stats);
  if (!code)
    return code.takeError();
  if (!stats.inner())
    return createStringError("'" + stats.function + "' has no loop to count instructions in");
  if (target.isGPU())
    if (llvm::Error error = findDeviceUse(stats, *code, target))
      return error;
  if (stats.device)
    stats.device->threads = threads;
  SmallVector<StringRef> lines;
  if (!programText.empty())
    StringRef(programText).split(lines, '\n');
  if (!json)
    return stats.toString(lines);
  return llvm::formatv("{0:2}\n", stats.toJson(lines)).str();
}

std::string Compilation::text() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  return text;
}
