#include "lib/Compiler/Compiler.h"

#include "dialect/NB.h"
#include "lib/Compiler/Compilation.h"
#include "lib/Compiler/DescribeFunction.h"
#include "lib/Experiment/Parameters.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

static Expected<std::string> emitStage(Expected<std::unique_ptr<Compilation>> compilation,
                                       const CompileOptions &options, StringRef stage) {
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
        populateFusion(pm);
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

Expected<std::string> nb::emitProgram(const nanobragg::Structure &structure,
                                      const CompileOptions &options, StringRef stage) {
  return emitStage(Compilation::start(structure, options), options, stage);
}

Expected<std::string> nb::emitProgram(ModuleOp program, const CompileOptions &options,
                                      StringRef stage) {
  return emitStage(Compilation::start(program, options), options, stage);
}

//===----------------------------------------------------------------------===//
// Kernels in this process
//===----------------------------------------------------------------------===//

struct JitKernel::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::string name, structure, target, precision;
  KernelDescription description; ///< what the parameters point to, where that is not static
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
  if (llvm::Triple(compilation.target.triple).getArch() !=
      llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return createStringError("code for " + compilation.target.triple + " does not run here");
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

Expected<std::unique_ptr<JitKernel>>
nb::compileFunction(ModuleOp program, StringRef name, bool fused, const CompileOptions &options) {
  auto function = program.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return createStringError("there is no function '" + name.str() + "' in the program");
  auto description = describeFunction(function);
  if (!description)
    return description.takeError();
  auto state = std::make_unique<JitKernel::State>();
  state->descriptor.image_type = description->imageType;
  state->description = std::move(*description);
  for (const KernelParameter &p : state->description.parameters)
    state->parameters.push_back({p.name.c_str(), p.kind, p.unit.c_str()});
  auto compilation = Compilation::start(program, options);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower(fused))
    return error;
  return load(**compilation, name, options, std::move(state));
}
