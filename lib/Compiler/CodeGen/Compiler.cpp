#include "lib/Compiler/CodeGen/Compiler.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/CodeGen/Compilation.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h"
#include "llvm/ExecutionEngine/Orc/Debugging/PerfSupportPlugin.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

std::string nb::dumpFolderOf(const CompileOptions &options) {
  return options.derives() ? options.dumpIR + "/" + options.derivative.modeName() : options.dumpIR;
}

static Expected<std::string> emitStage(Expected<std::unique_ptr<Compilation>> compilation,
                                       const CompileOptions &options, StringRef stage) {
  if (!compilation)
    return compilation.takeError();
  Compilation &c = **compilation;
  if (stage == "nb") {
    if (auto error = c.differentiate())
      return error;
    return c.text();
  }
  if (stage == "mlir") {
    const nanobragg::Until &until = options.until;
    const bool before = until.side == nanobragg::Until::Side::Before;
    if (auto error = until.any() ? c.runUntil(before ? until.stage : "", before ? "" : until.stage)
                                 : c.fuse())
      return error;
    return c.text();
  }
  if (stage == "report")
    return c.report();
  if (stage == "pipeline") {
    auto text = c.pipelineText();
    return text ? Expected<std::string>(*text + "\n") : std::move(text);
  }
  if (stage == "stages") {
    auto names = c.stageNames();
    return names ? Expected<std::string>(llvm::join(*names, "\n") + "\n") : names.takeError();
  }
  if (options.engine == nanobragg::Engine::Interpreter)
    return createStringError(
        "there is no " + stage.str() +
        " code of a program that is interpreted: leave out --no-fuse, or ask for nb or mlir");
  const bool stats = stage == "stats" || stage == "stats-json";
  if (stage != "llvm" && stage != "asm" && !stats && stage != "ptx")
    return createStringError(
        "unknown stage '" + stage.str() +
        "': expected nb, mlir, report, pipeline, stages, llvm, asm, stats, stats-json or ptx");
  const nanobragg::GpuVendor *vendor = c.target.what.vendor();
  const bool hasPtx = vendor && vendor->language == nanobragg::GpuLanguage::PTX;
  if ((stage == "ptx" && !hasPtx) || (stage == "asm" && vendor))
    return createStringError("there is no " + stage.str() + " for " + c.target.triple +
                             ": ptx is for NVIDIA chips such as sm_90, asm for processors");
  if (stage == "llvm")
    c.names = Compilation::Names::InLLVM;
  if (auto error = c.lower())
    return error;
  std::string text;
  if (stage == "llvm") {
    llvm::raw_string_ostream stream(text);
    c.module->print(stream, nullptr);
    return text;
  }
  if (stats)
    return c.statistics(stage == "stats-json");
  auto code = c.code(llvm::CodeGenFileType::AssemblyFile);
  if (!code)
    return code.takeError();
  return std::string(code->begin(), code->end());
}

Expected<std::string> nb::emitProgram(const nanobragg::ProgramVariant &variant,
                                      const CompileOptions &options, StringRef stage) {
  CompileOptions asked = options;
  if (stage.starts_with("stats")) // loops are told by the lines that they are of
    asked.programFile = "program.mlir";
  return emitStage(Compilation::start(variant, asked), asked, stage);
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
  std::string variant;
  size_t codeBytes = 0;
  KernelDescription description; ///< the storage that the descriptor points to
  std::vector<nb_kernel_parameter> parameters;
  std::vector<nb_kernel_output> outputs;
  nb_kernel_descriptor descriptor{};
};

JitKernel::JitKernel(std::unique_ptr<State> state) : state(std::move(state)) {}
JitKernel::~JitKernel() = default;
const nb_kernel_descriptor &JitKernel::descriptor() const { return state->descriptor; }
size_t JitKernel::codeBytes() const { return state->codeBytes; }

/// Bytes of the sections that hold code.
static size_t codeBytesOf(llvm::MemoryBufferRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  size_t bytes = 0;
  for (const llvm::object::SectionRef &section : (*file)->sections())
    bytes += section.isText() ? section.getSize() : 0;
  return bytes;
}

/// Shows the code to gdb, by its interface to JIT compilers, and to perf, by a jitdump (perf record
/// -k mono, perf inject --jit); writes the program whose lines it has.
static llvm::Error showToDebuggers(llvm::orc::LLJIT &jit, StringRef file, StringRef program) {
  std::error_code failed;
  llvm::raw_fd_ostream stream(file, failed);
  if (failed)
    return createStringError("NB_KERNEL_FILES: " + file +
                             " cannot be written: " + failed.message());
  stream << program;
  if (auto error = llvm::orc::enableDebuggerSupport(jit))
    return error;
  auto *layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (!layer)
    return llvm::Error::success();
  auto perf = llvm::orc::PerfSupportPlugin::Create(
      jit.getExecutionSession().getExecutorProcessControl(), *jit.getProcessSymbolsJITDylib(),
      /*EmitDebugInfo=*/true, /*EmitUnwindInfo=*/false);
  if (perf)
    layer->addPlugin(std::move(*perf));
  else
    llvm::consumeError(perf.takeError()); // this library shows none of LLVM's symbols
  return llvm::Error::success();
}

Expected<std::unique_ptr<JitKernel>> nb::loadCompiled(Compilation &compilation,
                                                      nanobragg::KernelSpecification made) {
  if (llvm::Triple(compilation.target.triple).getArch() !=
      llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return createStringError("code for " + compilation.target.triple + " does not run here");
  auto object = compilation.code(llvm::CodeGenFileType::ObjectFile);
  if (!object)
    return object.takeError();
  const Phase phase("load the code");
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto state = std::make_unique<JitKernel::State>();
  state->jit = std::move(*jit);
  if (const auto [program, file] = compilation.debuggedProgram(); !program.empty())
    if (auto error = showToDebuggers(*state->jit, file, program))
      return error;
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object->data(), object->size()), "kernel");
  state->codeBytes = codeBytesOf(*buffer);
  if (auto error = state->jit->addObjectFile(std::move(buffer)))
    return error;

  state->description = compilation.description;
  made.fixed = state->description.fixed;
  state->variant = made.toString();
  const KernelDescription &description = state->description;
  for (const KernelParameter &p : description.parameters)
    state->parameters.push_back({p.name.c_str(), p.kind, p.unit.c_str()});
  bool sums = false;
  for (const KernelOutput &o : description.outputs) {
    state->outputs.push_back({o.name.c_str(), o.kind, o.unit.c_str()});
    sums |= o.kind != NB_OUTPUT_IMAGE;
  }
  nb_kernel_descriptor &d = state->descriptor;
  d.abi_version = NB_KERNEL_ABI_VERSION;
  d.size = sizeof(d);
  d.image_type = description.imageType;
  d.name = description.function.c_str();
  d.variant = state->variant.c_str();
  d.target = description.target.c_str();
  d.precision = description.precision.c_str();
  d.num_parameters = state->parameters.size();
  d.parameters = state->parameters.data();
  d.num_outputs = state->outputs.size();
  d.outputs = state->outputs.data();
  auto bind = [&](auto &entry, StringRef suffix) -> llvm::Error {
    auto address = state->jit->lookup(description.function + suffix.str());
    if (!address)
      return address.takeError();
    entry = address->toPtr<std::remove_reference_t<decltype(entry)>>();
    return llvm::Error::success();
  };
  if (auto error = bind(d.workspace_size, names::workspaceSize))
    return error;
  if (auto error = bind(d.prepare, names::prepare))
    return error;
  if (auto error = bind(d.run_tile, names::runTile))
    return error;
  if (description.reaches) {
    if (auto error = bind(d.reach, names::reach))
      return error;
    d.needs = NB_KERNEL_NEEDS_LIT;
    d.reach_numbers_size = sizeof(nb_reach_numbers);
    d.reach_tables_size = sizeof(nb_reach_tables);
  }
  if (sums) {
    if (auto error = bind(d.accumulator_size, names::accumulatorSize))
      return error;
    if (auto error = bind(d.scratch_size, names::scratchSize))
      return error;
    if (auto error = bind(d.finish, names::finish))
      return error;
    if (auto error = bind(d.output_sizes, names::outputSizes))
      return error;
  }
  return std::make_unique<JitKernel>(std::move(state));
}

Expected<std::unique_ptr<JitKernel>> nb::compileKernel(const nanobragg::ProgramVariant &variant,
                                                       const CompileOptions &options) {
  auto compilation = Compilation::start(variant, options);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower())
    return error;
  return loadCompiled(**compilation, {variant, options.derivative, {}, options.cull});
}

Expected<std::unique_ptr<JitKernel>>
nb::compileFunction(ModuleOp program, StringRef name, bool fused, const CompileOptions &options) {
  if (!program.lookupSymbol<func::FuncOp>(name))
    return createStringError("there is no function '" + name.str() + "' in the program");
  auto compilation = Compilation::start(program, options);
  if (!compilation)
    return compilation.takeError();
  if (auto error = (*compilation)->lower(fused, nullptr, name))
    return error;
  return loadCompiled(**compilation);
}
