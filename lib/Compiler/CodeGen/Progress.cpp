#include "lib/Compiler/CodeGen/Progress.h"

#include "dialect/NB.h"
#include "dialect/Names.h"
#include "lib/Compiler/Pipelines/Pipelines.h"
#include "lib/Conversion/Loops/KernelPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

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

/// An error at an op, as a pass would say it.
static llvm::Error errorAt(Operation *op, const Twine &sentence) {
  std::string said;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    if (said.empty())
      said = sentenceOf(diagnostic);
  });
  op->emitError() << sentence;
  return createStringError(said);
}

/// Results are in memory, and no scf.for says that it is over pixels.
static llvm::Error loopsAreGone(func::FuncOp function) {
  return errorAt(function, "the loops over pixels of '" + function.getName() +
                               "' are no scf.for with '" + names::loop +
                               "' any more, which nb-outline-kernel takes: passes that make other "
                               "loops or branches of them (scf-for-to-while, convert-scf-to-cf) "
                               "belong after it");
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
    if (holdsOp(function, llvm::IsaPred<StoredOp>))
      return loopsAreGone(function);
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
                             "', in which nb-outline-kernel records arguments and results: make it "
                             "anew from the nb program");
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
    if (const nanobragg::GpuVendor *vendor = target.what.vendor())
      switch (vendor->language) {
      case nanobragg::GpuLanguage::PTX:
        return Stage::NVVM;
      case nanobragg::GpuLanguage::SPIRV:
        return Stage::SPIRV;
      case nanobragg::GpuLanguage::HSACO:
        return Stage::ROCDL;
      }
    return target.isTwin() ? Stage::Grid : Stage::Host;
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
  if (isa<UnrealizedConversionCastOp>(op))
    return "reconcile-unrealized-casts removes it where types meet";
  return llvm::StringSwitch<std::string>(op->getName().getDialectNamespace())
      .Case("affine", "lower-affine makes scf and arith of it, ahead of convert-scf-to-cf")
      .Case("scf", "convert-scf-to-cf and then convert-to-llvm bring it to the LLVM dialect")
      .Case("vector", "convert-vector-to-llvm brings it to the LLVM dialect")
      .Case("linalg", "convert-linalg-to-loops makes loops of it, of memory alone: "
                      "one-shot-bufferize stands ahead of that")
      .Cases({"tensor", "bufferization"}, "one-shot-bufferize makes memory of tensors")
      .Case("memref", "expand-strided-metadata and then convert-to-llvm bring it to the LLVM "
                      "dialect")
      .Case("index", "convert-index-to-llvm brings it to the LLVM dialect")
      .Case("math", "convert-nb-to-arith writes out what LLVM has no function for, or else "
                    "math-expand-ops, and convert-to-llvm brings the rest to the LLVM dialect")
      .Default("convert-to-llvm or a conversion of its own brings it to the LLVM dialect");
}

/// A cast between what has been lowered and what has not.
static bool isCast(Operation *op) { return isa<UnrealizedConversionCastOp>(op); }

llvm::Error nb::checkTranslatable(Operation *program) {
  // Casts stand beside the op that keeps them.
  Operation *culprit = nullptr;
  program->walk([&](Operation *op) {
    // By name: the headers of NVVM and ROCDL take longer to read than all else here.
    bool fine = isa<ModuleOp, gpu::GPUModuleOp>(op) ||
                llvm::is_contained({"llvm", "nvvm", "rocdl"}, op->getName().getDialectNamespace());
    if (fine || (culprit && isCast(op)))
      return WalkResult::advance();
    culprit = op;
    return isCast(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (!culprit)
    return llvm::Error::success();
  return errorAt(culprit, "'" + culprit->getName().getStringRef() +
                              "' is left, of which there is no code: " + remedyFor(culprit));
}
