#include "lib/Compiler/Compiler.h"

#include "dialect/NB.h"
#include "lib/Compiler/CodeGen.h"
#include "lib/Compiler/DescribeKernel.h"
#include "lib/Compiler/Dialects.h"
#include "lib/Compiler/DumpIR.h"
#include "lib/Compiler/LinkKernel.h"
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
  /// Works on a copy of `program`, in its context.
  static Expected<std::unique_ptr<Compilation>> start(ModuleOp program,
                                                      const CompileOptions &options);

  /// Runs the passes that `populate` adds.
  llvm::Error runPasses(llvm::function_ref<void(OpPassManager &)> populate);
  /// All passes, or with `fused` those after the nb-level ones; then optimized LLVM IR in `module`.
  /// `complete` may add to the module before it is optimized.
  llvm::Error lower(bool fused = false,
                    llvm::function_ref<void(llvm::Module &)> complete = nullptr);

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
  Compilation(const CompileOptions &options, MLIRContext &context)
      : options(options), context(context) {}
  llvm::Error prepare();

  const CompileOptions &options;
  std::unique_ptr<MLIRContext> ownContext;
  MLIRContext &context;
  OwningOpRef<ModuleOp> program;
  std::unique_ptr<llvm::TargetMachine> machine;
};
} // namespace

/// Finds the target and loads the dialects.
llvm::Error Compilation::prepare() {
  if (options.precision != "f64")
    return createStringError("unknown precision '" + options.precision + "': expected f64");
  auto resolved = resolveTarget(options.target);
  if (!resolved)
    return resolved.takeError();
  target = *resolved;
  auto created = createTargetMachine(target);
  if (!created)
    return created.takeError();
  machine = std::move(*created);
  pipeline.width = lanesFor(*machine);

  DialectRegistry registry;
  registerCompilerDialects(registry);
  context.appendDialectRegistry(registry);
  loadFrontendDialects(context);
  return llvm::Error::success();
}

Expected<std::unique_ptr<Compilation>> Compilation::start(const nanobragg::Structure &structure,
                                                          const CompileOptions &options) {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  std::unique_ptr<Compilation> result(new Compilation(options, *context));
  result->ownContext = std::move(context);
  if (auto error = result->prepare())
    return error;
  result->program = buildProgram(result->context, structure);
  return result;
}

Expected<std::unique_ptr<Compilation>> Compilation::start(ModuleOp program,
                                                          const CompileOptions &options) {
  std::unique_ptr<Compilation> result(new Compilation(options, *program.getContext()));
  if (auto error = result->prepare())
    return error;
  result->program = program.clone();
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

llvm::Error Compilation::lower(bool fused,
                               llvm::function_ref<void(llvm::Module &)> complete) {
  auto populate = [&](OpPassManager &pm) {
    if (!fused)
      populateFusion(pm, pipeline);
    populateKernel(pm, pipeline);
    populateLLVM(pm);
  };
  if (auto error = runPasses(populate))
    return error;
  module = translateModuleToLLVMIR(*program, llvmContext, "kernel");
  if (!module)
    return createStringError("translating the program to LLVM IR failed");
  if (complete)
    complete(*module);
  optimize(*module, *machine);
  return llvm::Error::success();
}

std::string Compilation::text() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream, OpPrintingFlags().printNameLocAsPrefix());
  return text;
}

Expected<llvm::SmallVector<char, 0>> nb::buildKernel(const nanobragg::Structure &structure,
                                                     const CompileOptions &options,
                                                     llvm::StringRef kind) {
  if (kind != "so" && kind != "obj")
    return createStringError("unknown kind of kernel file '" + kind.str() +
                             "': expected so or obj");
  auto compilation = Compilation::start(structure, options);
  if (!compilation)
    return compilation.takeError();
  Compilation &c = **compilation;
  auto describe = [&](llvm::Module &module) {
    describeKernel(module, structure, c.target.toString(), options.precision);
  };
  if (auto error = c.lower(/*fused=*/false, describe))
    return error;
  auto object = c.code(llvm::CodeGenFileType::ObjectFile);
  if (!object || kind == "obj")
    return object;
  return linkSharedObject(*object);
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
    auto populate = [&](OpPassManager &pm) {
      if (options.noFuse)
        populateInterpreterPipeline(pm);
      else
        populateFusion(pm, c.pipeline);
    };
    if (auto error = c.runPasses(populate))
      return error;
    return c.text();
  }
  if (options.noFuse)
    return createStringError("there is no " + stage.str() +
                             " code of a program that is interpreted: leave out --no-fuse, or ask "
                             "for nb or mlir");
  if (stage != "llvm" && stage != "asm")
    return createStringError("unknown stage '" + stage.str() + "': expected nb, mlir, llvm or asm");
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
  std::string name, structure, target, precision;
  std::vector<std::string> texts; ///< what the parameters point to, where that is not static
  std::vector<nb_kernel_parameter> parameters;
  nb_kernel_descriptor descriptor;
};

JitKernel::JitKernel(std::unique_ptr<State> state) : state(std::move(state)) {}
JitKernel::~JitKernel() = default;
const nb_kernel_descriptor &JitKernel::descriptor() const { return state->descriptor; }

/// Loads the compiled function NAME and completes the descriptor of `state`, whose parameters and
/// image type are known.
static Expected<std::unique_ptr<JitKernel>> load(Compilation &compilation, StringRef name,
                                                 const CompileOptions &options,
                                                 std::unique_ptr<JitKernel::State> state) {
  auto object = compilation.code(llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  state->jit = std::move(*jit);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object->data(), object->size()), "kernel");
  if (auto error = state->jit->addObjectFile(std::move(buffer)))
    return error;

  state->name = name.str();
  state->target = compilation.target.toString();
  state->precision = options.precision;
  nb_kernel_descriptor &d = state->descriptor;
  d.abi_version = NB_KERNEL_ABI_VERSION;
  d.name = state->name.c_str();
  d.structure = state->structure.c_str();
  d.target = state->target.c_str();
  d.precision = state->precision.c_str();
  d.num_parameters = state->parameters.size();
  d.parameters = state->parameters.data();
  auto bind = [&](auto &entry, const char *suffix) -> llvm::Error {
    auto address = state->jit->lookup(state->name + suffix);
    if (!address)
      return address.takeError();
    entry = address->toPtr<std::remove_reference_t<decltype(entry)>>();
    return llvm::Error::success();
  };
  if (auto error = bind(d.workspace_size, "_workspace_size"))
    return error;
  if (auto error = bind(d.prepare, "_prepare"))
    return error;
  if (auto error = bind(d.run_tile, "_run_tile"))
    return error;
  return std::make_unique<JitKernel>(std::move(state));
}

Expected<std::unique_ptr<JitKernel>> nb::compileKernel(const nanobragg::Structure &structure,
                                                       const CompileOptions &options) {
  auto compilation = Compilation::start(structure, options);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower())
    return error;
  auto state = std::make_unique<JitKernel::State>();
  for (const nanobragg::Parameter *parameter : nanobragg::parametersOf(structure))
    state->parameters.push_back({parameter->name, parameter->kind, parameter->unit});
  state->structure = structure.toString();
  state->descriptor.image_type =
      structure.imageType == nanobragg::ImageType::F32 ? NB_IMAGE_F32 : NB_IMAGE_F64;
  return load(**compilation, "image", options, std::move(state));
}

/// How an argument of this type is passed.
static std::optional<nb_parameter_kind> kindOf(Type type) {
  auto isF64 = [](Type type) { return type.isF64(); };
  if (type.isIndex())
    return NB_PARAMETER_INDEX;
  if (auto table = dyn_cast<TableType>(type)) {
    Type element = table.getElementType();
    if (auto vector = dyn_cast<Vec3Type>(element); vector && isF64(vector.getElementType()))
      return NB_PARAMETER_TABLE_VEC3;
    return isF64(element) ? std::optional(NB_PARAMETER_TABLE_F64) : std::nullopt;
  }
  if (auto vector = dyn_cast<Vec3Type>(type); vector && isF64(vector.getElementType()))
    return NB_PARAMETER_VEC3;
  if (auto matrix = dyn_cast<Mat3Type>(type); matrix && isF64(matrix.getElementType()))
    return NB_PARAMETER_MAT3;
  if (auto grid = dyn_cast<HklGridType>(type); grid && isF64(grid.getElementType()))
    return NB_PARAMETER_HKL_GRID;
  if (auto mask = dyn_cast<RankedTensorType>(type); mask && mask.getElementType().isInteger(8))
    return NB_PARAMETER_MASK;
  return isF64(type) ? std::optional(NB_PARAMETER_F64) : std::nullopt;
}

std::string nb::argumentName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, "nb.name");
  return name ? name.str() : "arg" + std::to_string(argument);
}

Expected<std::unique_ptr<JitKernel>>
nb::compileFunction(ModuleOp program, StringRef name, bool fused, const CompileOptions &options) {
  auto function = program.lookupSymbol<func::FuncOp>(name);
  auto image = function && function.getNumResults() == 1
                   ? dyn_cast<RankedTensorType>(function.getResultTypes()[0])
                   : RankedTensorType();
  if (!image)
    return createStringError("'" + name.str() + "' is no function that returns one image");
  auto state = std::make_unique<JitKernel::State>();
  state->descriptor.image_type = image.getElementType().isF32() ? NB_IMAGE_F32 : NB_IMAGE_F64;
  state->texts.reserve(function.getNumArguments());
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    state->texts.push_back(argumentName(function, i));
    auto kind = kindOf(type);
    if (!kind)
      return createStringError("argument '" + state->texts.back() + "' of '" + name.str() +
                               "' has a type that no kernel takes; run it with --no-fuse");
    state->parameters.push_back({state->texts.back().c_str(), *kind, "1"});
  }
  auto compilation = Compilation::start(program, options);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower(fused))
    return error;
  return load(**compilation, name, options, std::move(state));
}
