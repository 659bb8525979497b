#include "lib/Compiler/CodeGen/Progress.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Conversion/Loops/KernelPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
using llvm::Expected;

template <typename Predicate>
static bool holdsOp(Operation *in, Predicate is) {
  return in
      ->walk([&](Operation *op) {
        return op != in && is(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool hasLanes(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>);
}

static bool isOfNb(Operation *op) { return isa_and_nonnull<NBDialect>(op->getDialect()); }

DictionaryAttr nb::findKernelRecord(ModuleOp program) {
  for (auto function : program.getOps<FunctionOpInterface>())
    if (auto record = function->getAttrOfType<DictionaryAttr>(names::kernel))
      return record;
  return {};
}

Expected<Progress> nb::progressOf(ModuleOp program) {
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isDeclaration())
      continue;
    if (holdsOp(function, llvm::IsaPred<ImageOp>)) {
      bool lanes = holdsOp(
          function, [](Operation *op) { return op->getParentOfType<ImageOp>() && hasLanes(op); });
      return lanes ? Progress::Lanes : Progress::Program;
    }
    if (KernelPlan::hasNest(function) && !findKernelRecord(program))
      return holdsOp(function,
                     [](Operation *op) { return isOfNb(op) && !isa<PartsOp, StoredOp>(op); })
                 ? Progress::Loops
                 : Progress::Arithmetic;
  }
  if (holdsOp(program, llvm::IsaPred<gpu::LaunchOp>))
    return Progress::Launch;
  if (!program.getOps<gpu::GPUModuleOp>().empty())
    return Progress::Code;
  if (findKernelRecord(program))
    return program.getOps<func::FuncOp>().empty() ? Progress::Code : Progress::EntryPoints;
  if (!program.getOps<LLVM::LLVMFuncOp>().empty())
    return createStringError("this program is in the LLVM dialect, and no function of it has '" +
                             names::kernel.str() +
                             "', by which nb-outline-kernel says what takes and returns what: make "
                             "it anew from the nb program");
  return createStringError("no function of the program returns one image");
}

Expected<std::optional<Stage>> nb::nextStage(Progress progress, const Target &target) {
  const bool grid = target.hasGrid();
  switch (progress) {
  case Progress::Program:
    return Stage::Precision;
  case Progress::Lanes:
    if (grid)
      return createStringError("the program computes several pixels at once (nb-vectorize), and a "
                               "GPU's threads one each: leave that pass out, or name a processor");
    return Stage::Loops;
  case Progress::Loops:
    return Stage::Arith;
  case Progress::Arithmetic:
    return Stage::Outline;
  case Progress::EntryPoints:
    return grid ? Stage::Gpu : Stage::LLVM;
  case Progress::Launch:
    if (!grid)
      return createStringError(
          "the program launches the program of a GPU (nb-to-gpu), and the target is a processor: "
          "leave that pass out, or name gpu-on-cpu or a chip as the target");
    return target.isGPU() ? Stage::NVVM : target.isTwin() ? Stage::Grid : Stage::Host;
  case Progress::Code:
    return std::nullopt;
  }
  llvm_unreachable("unknown progress");
}

/// The pass that such an op waits for.
static std::string remedyFor(Operation *op) {
  if (isa<LoopOp>(op))
    return "convert-nb-to-loops makes loops of it";
  if (isOfNb(op))
    return "convert-nb-to-arith writes out its formula";
  if (isa<func::FuncOp>(op))
    return "nb-outline-kernel makes entry points of a function with an image, and convert-to-llvm "
           "functions of LLVM's of those";
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "scf")
    return "convert-scf-to-cf and then convert-to-llvm bring it to the LLVM dialect";
  if (dialect == "vector")
    return "convert-vector-to-llvm brings it to the LLVM dialect";
  if (op->getName().getStringRef() == "builtin.unrealized_conversion_cast")
    return "reconcile-unrealized-casts removes it where types meet";
  return "convert-to-llvm or a conversion of its own brings it to the LLVM dialect";
}

llvm::Error nb::checkTranslatable(Operation *program) {
  Operation *culprit = nullptr;
  program->walk([&](Operation *op) {
    bool fine = isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()) ||
                isa<ModuleOp, gpu::GPUModuleOp>(op);
    if (fine)
      return WalkResult::advance();
    culprit = op;
    return WalkResult::interrupt();
  });
  if (!culprit)
    return llvm::Error::success();
  // As a pass would say it.
  std::string sentence;
  ScopedDiagnosticHandler handler(program->getContext(), [&](Diagnostic &diagnostic) {
    if (sentence.empty())
      sentence = sentenceOf(diagnostic);
  });
  culprit->emitError() << "'" << culprit->getName()
                       << "' is left, of which there is no code: " << remedyFor(culprit);
  return createStringError(sentence);
}
