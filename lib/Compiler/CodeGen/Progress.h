// How far a program has come on its way to code.
#ifndef NB_COMPILER_PROGRESS_H
#define NB_COMPILER_PROGRESS_H

#include "lib/Compiler/CodeGen/CodeGen.h"
#include "lib/Compiler/Pipelines/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// How far a program has been lowered.
enum class Progress {
  Program,     ///< an nb program
  Lanes,       ///< its image computes several pixels at once
  Loops,       ///< no image any more, loops over pixels
  Arithmetic,  ///< and no ops of the nb dialect
  EntryPoints, ///< no function any more, those of a kernel
  Launch,      ///< which launch the program of a GPU
  Code         ///< the LLVM dialect
};

/// How far a program has come, whatever made it. An error where there is nothing to make a kernel
/// of.
llvm::Expected<Progress> progressOf(ModuleOp program);

/// The stage of a pipeline for the target (Pipelines.h) that comes next; nothing behind the last
/// one. An error where the program has come to what such a target has no use for.
llvm::Expected<std::optional<Stage>> nextStage(Progress progress, const Target &target);

/// The entry point that says what function it was made of (names::kernel); null: there is none.
DictionaryAttr findKernelRecord(ModuleOp program);

/// An error at the first op that cannot be translated to LLVM IR, with the pass that it lacks.
llvm::Error checkTranslatable(Operation *program);

} // namespace mlir::nb

#endif
