#include "lib/Compiler/CodeGen/CodeGen.h"

#include "dialect/Names.h"

#include "lib/Compiler/CodeGen/KeepLines.h"
#include "lib/Compiler/CodeGen/ReplaceRounding.h"
#include "lib/Compiler/Pipelines/MLIRFlags.h"

#include "lib/Target/CpuFeatures.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace llvm;

namespace mlir::nb {

Target resolveTarget(const nanobragg::KernelTarget &what) {
  using Kind = nanobragg::KernelTarget::Kind;
  Target target{what, sys::getProcessTriple(), what.name, ""};
  switch (what.kind) {
  case Kind::Chip:
    target.triple = what.vendor()->triple;
    target.cpu = what.vendor()->cpu(what.name);
    target.features = what.vendor()->features(what.name);
    break;
  case Kind::HostOfGpu:
    target.cpu = Triple(target.triple).isX86() ? "x86-64" : "generic";
    break;
  case Kind::Native:
  case Kind::GpuOnCpu: {
    target.cpu = sys::getHostCPUName().str();
    SubtargetFeatures features;
    for (const auto &feature : sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
    target.features = features.getString();
    break;
  }
  case Kind::Processor:
    if (StringRef name = what.name; name == "aarch64" || name.consume_front("aarch64-")) {
      target.triple = "aarch64-unknown-linux-gnu";
      target.cpu = name == "aarch64" ? "generic" : name.str();
    }
    break;
  }
  return target;
}

Expected<std::unique_ptr<TargetMachine>> createTargetMachine(const Target &target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    prepareToKeepLines();
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeSPIRVTargetInfo();
    LLVMInitializeSPIRVTarget();
    LLVMInitializeSPIRVTargetMC();
    LLVMInitializeSPIRVAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
  std::string error;
  Triple triple(target.triple);
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return createStringError(error);
  // Without a CPU yet: LLVM itself prints a name that it does not know.
  std::unique_ptr<MCSubtargetInfo> cpus(backend->createMCSubtargetInfo(triple, "", ""));
  if (!cpus || !cpus->isCPUStringValid(target.cpu))
    return createStringError(
        "unknown target '" + target.cpu +
        "': expected native, gpu-on-cpu, aarch64, sm_80 or another NVIDIA "
        "chip, gfx942 or another of AMD's, or a CPU name that LLVM knows for " +
        target.triple);
  TargetOptions options;
  std::unique_ptr<TargetMachine> machine(
      backend->createTargetMachine(triple, target.cpu, target.features, options, Reloc::PIC_,
                                   std::nullopt, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("cannot generate code for " + target.triple);
  return machine;
}

static bool hasFeature(TargetMachine &machine, StringRef feature) {
  return machine.getMCSubtargetInfo()->checkFeatures(("+" + feature).str());
}

std::string featuresOf(TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return "";
  std::string text;
#define NB_ADD(name)                                                                               \
  if (hasFeature(machine, name))                                                                   \
    text += (text.empty() ? "" : " ") + std::string(name);
  NB_X86_FEATURES(NB_ADD)
#undef NB_ADD
  return text;
}

int64_t lanesFor(TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86())
    return 2;
  if (hasFeature(machine, "avx512f"))
    return 8;
  return hasFeature(machine, "avx") ? 4 : 2;
}

int64_t pixelsAtOnce(TargetMachine &machine, nanobragg::Precision precision) {
  if (!machine.getTargetTriple().isX86()) // not measured
    return fewPixelsAtOnce(machine, precision);
  return lanesFor(machine) * (precision == nanobragg::Precision::F64 ? 2 : 4);
}

int64_t fewPixelsAtOnce(TargetMachine &machine, nanobragg::Precision precision) {
  // AVX-512 and NEON have 32 vector registers, AVX and SSE 16.
  bool manyRegisters = !machine.getTargetTriple().isX86() || hasFeature(machine, "avx512f");
  return lanesFor(machine) * (precision != nanobragg::Precision::F64 || manyRegisters ? 2 : 1);
}

bool hasEstimates(TargetMachine &machine) {
  return machine.getTargetTriple().isX86() && hasFeature(machine, "avx512f");
}

/// Code that a run executes once takes microseconds, but half of the compiler's time to optimize.
static bool isDoneOnce(const llvm::Function &function) {
  return function.getName().ends_with(names::prepare);
}

/// The program is vectorized, scheduled and rid of its invariants by our passes: LLVM cleans up.
/// The passes of its own level 2 that change nothing in kernels, among them those of whole
/// programs, would take a tenth of the time in which a kernel is compiled.
static constexpr StringRef cleaning =
    "cgscc(inline),"
    "function(sroa,early-cse<memssa>,simplifycfg,"
    "instcombine<no-verify-fixpoint>,reassociate,"
    "loop-mssa(loop-rotate,licm),simplifycfg,loop(indvars,loop-deletion),gvn,"
    "instcombine<no-verify-fixpoint>,dse,loop-mssa(licm),loop-load-elim,vector-combine,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm),loop-sink,simplifycfg),"
    "globaldce";

static bool isOfGpu(const Triple &triple) {
  return triple.isNVPTX() || triple.isSPIRV() || triple.isAMDGCN();
}

void optimize(Module &module, TargetMachine &machine) {
  const Phase phase("LLVM optimizer");
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  if (machine.getTargetTriple().isAMDGCN()) // older ROCm does not load the default, version 6
    module.addModuleFlag(Module::Error, "amdhsa_code_object_version", 500);
  std::string width = std::to_string(lanesFor(machine) * 64);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (isOfGpu(machine.getTargetTriple()))
      continue;
    // Debuggers and profilers find the callers of a kernel. With debug information LLVM would make
    // these tables, too, and move the code.
    function.setUWTableKind(llvm::UWTableKind::Async);
    if (isDoneOnce(function)) {
      function.addFnAttr(llvm::Attribute::OptimizeNone);
      function.addFnAttr(llvm::Attribute::NoInline);
    }
    // A kernel calls nothing, so that no loop may become a call of memset.
    function.addFnAttr("no-builtins");
    // LLVM prefers 256 bits on most AVX-512 machines; the program says how wide it is.
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
  }
  if (machine.getTargetTriple().isX86() && !hasFeature(machine, "sse4.1"))
    replaceRounding(module);
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = false;
  tuning.LoopUnrolling = false;
  PassInstrumentationCallbacks callbacks;
  TimeProfilingPassesHandler spans;
  spans.registerCallbacks(callbacks); // does nothing without a profiler
  OptNoneInstrumentation notOptimized(/*DebugLogging=*/false);
  notOptimized.registerCallbacks(callbacks);
  PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  ModulePassManager passes;
  if (isOfGpu(machine.getTargetTriple()))
    passes = builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2);
  else
    cantFail(builder.parsePassPipeline(passes, cleaning));
  passes.run(module, modules);
}

Expected<SmallVector<char, 0>> emitCode(Module &module, TargetMachine &machine,
                                        CodeGenFileType type) {
  const Phase phase("LLVM code generation");
  SmallVector<char, 0> code;
  raw_svector_ostream stream(code);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("this target cannot emit the requested kind of file");
  passes.run(module);
  return code;
}

} // namespace mlir::nb
