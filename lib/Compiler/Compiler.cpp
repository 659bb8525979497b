#include "lib/Compiler/Compiler.h"

#include "lib/Compiler/CodeGen.h"
#include "lib/Compiler/Dialects.h"
#include "lib/Compiler/DumpIR.h"
#include "lib/Compiler/Pipelines.h"
#include "lib/Experiment/Parameters.h"
#include "lib/Frontend/Frontend.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

namespace {
/// One compilation: its context, the target, and the program at the stage reached so far.
class Compilation {
public:
  static Expected<std::unique_ptr<Compilation>> start(const nanobragg::Structure &structure,
                                                      const CompileOptions &options);

  /// Runs the passes that `populate` adds.
  llvm::Error runPasses(llvm::function_ref<void(OpPassManager &)> populate);
  /// All passes, then optimized LLVM IR in `module`.
  llvm::Error lower();

  std::string text();
  Expected<llvm::SmallVector<char, 0>> code(llvm::CodeGenFileType type) {
    return emitCode(*module, *machine, type);
  }

  Target target;
  CpuPipelineOptions pipeline;

private:
  llvm::LLVMContext llvmContext; // outlives the module

public:
  std::unique_ptr<llvm::Module> module;

private:
  explicit Compilation(const CompileOptions &options)
      : options(options), context(MLIRContext::Threading::DISABLED) {}

  const CompileOptions &options;
  MLIRContext context;
  OwningOpRef<ModuleOp> program;
  std::unique_ptr<llvm::TargetMachine> machine;
};
} // namespace

Expected<std::unique_ptr<Compilation>>
Compilation::start(const nanobragg::Structure &structure, const CompileOptions &options) {
  if (options.precision != "f64")
    return createStringError("unknown precision '" + options.precision + "': expected f64");
  if (options.noFuse)
    return createStringError("--no-fuse is not available: this build has no interpreter");
  std::unique_ptr<Compilation> result(new Compilation(options));
  auto target = resolveTarget(options.target);
  if (!target)
    return target.takeError();
  result->target = *target;
  auto machine = createTargetMachine(*target);
  if (!machine)
    return machine.takeError();
  result->machine = std::move(*machine);
  result->pipeline.width = lanesFor(*result->machine);

  DialectRegistry registry;
  registerCompilerDialects(registry);
  result->context.appendDialectRegistry(registry);
  loadFrontendDialects(result->context);
  result->program = buildProgram(result->context, structure);
  return result;
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

llvm::Error Compilation::lower() {
  if (auto error = runPasses([&](OpPassManager &pm) { populateCpuPipeline(pm, pipeline); }))
    return error;
  module = translateModuleToLLVMIR(*program, llvmContext, "kernel");
  if (!module)
    return createStringError("translating the program to LLVM IR failed");
  optimize(*module, *machine);
  return llvm::Error::success();
}

std::string Compilation::text() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  return text;
}

Expected<std::string> nb::emitProgram(const nanobragg::Structure &structure,
                                      const CompileOptions &options, llvm::StringRef stage) {
  auto compilation = Compilation::start(structure, options);
  if (!compilation)
    return compilation.takeError();
  Compilation &c = **compilation;
  if (stage == "nb")
    return c.text();
  if (stage == "mlir") {
    if (auto error = c.runPasses([&](OpPassManager &pm) { populateFusion(pm, c.pipeline); }))
      return error;
    return c.text();
  }
  if (stage != "llvm" && stage != "asm")
    return createStringError("unknown stage '" + stage.str() +
                             "': expected nb, mlir, llvm or asm");
  if (auto error = c.lower())
    return error;
  std::string text;
  if (stage == "llvm") {
    llvm::raw_string_ostream stream(text);
    c.module->print(stream, nullptr);
    return text;
  }
  auto code = c.code(llvm::CodeGenFileType::AssemblyFile);
  if (!code)
    return code.takeError();
  return std::string(code->begin(), code->end());
}

//===----------------------------------------------------------------------===//
// Kernels in this process
//===----------------------------------------------------------------------===//

struct JitKernel::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::string structure, target, precision;
  std::vector<nb_kernel_parameter> parameters;
  nb_kernel_descriptor descriptor;
};

JitKernel::JitKernel() : state(std::make_unique<State>()) {}
JitKernel::~JitKernel() = default;
const nb_kernel_descriptor &JitKernel::descriptor() const { return state->descriptor; }

Expected<std::unique_ptr<JitKernel>> nb::compileKernel(const nanobragg::Structure &structure,
                                                       const CompileOptions &options) {
  auto compilation = Compilation::start(structure, options);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower())
    return error;
  auto object = (*compilation)->code(llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();

  std::unique_ptr<JitKernel> kernel(new JitKernel);
  JitKernel::State &state = *kernel->state;
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  state.jit = std::move(*jit);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object->data(), object->size()), "kernel");
  if (auto error = state.jit->addObjectFile(std::move(buffer)))
    return error;

  for (const nanobragg::Parameter *parameter : nanobragg::parametersOf(structure))
    state.parameters.push_back({parameter->name, parameter->kind, parameter->unit});
  state.structure = structure.toString();
  state.target = (*compilation)->target.toString();
  state.precision = options.precision;
  nb_kernel_descriptor &d = state.descriptor;
  d.abi_version = NB_KERNEL_ABI_VERSION;
  d.image_type =
      structure.imageType == nanobragg::ImageType::F32 ? NB_IMAGE_F32 : NB_IMAGE_F64;
  d.name = "image";
  d.structure = state.structure.c_str();
  d.target = state.target.c_str();
  d.precision = state.precision.c_str();
  d.num_parameters = state.parameters.size();
  d.parameters = state.parameters.data();
  auto bind = [&](auto &entry, const char *name) -> llvm::Error {
    auto address = state.jit->lookup(name);
    if (!address)
      return address.takeError();
    entry = address->toPtr<std::remove_reference_t<decltype(entry)>>();
    return llvm::Error::success();
  };
  if (auto error = bind(d.workspace_size, "image_workspace_size"))
    return error;
  if (auto error = bind(d.prepare, "image_prepare"))
    return error;
  if (auto error = bind(d.run_tile, "image_run_tile"))
    return error;
  return kernel;
}
