// The program after each pass.
#ifndef NB_COMPILER_RECORDSTAGES_H
#define NB_COMPILER_RECORDSTAGES_H

#include "lib/Compiler/Pipelines/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::nb {

struct RecordedProgram {
  std::string name; ///< "input", or the pass that made it
  OwningOpRef<ModuleOp> program;
  bool changed = true; ///< from the stage before
};

/// The input and the program after each pass of `own`, or without one of the pipeline for
/// processors, in f64, that leaves what the interpreter can run: those up to and including stage
/// "lanes", the last one being nb-vectorize. For tests, `inject` adds a pass to the pipeline:
/// "AFTER:PASS{options}", where AFTER is one of the pipeline's passes and PASS is registered with
/// MLIR.
llvm::Expected<std::vector<RecordedProgram>>
recordStages(ModuleOp program, llvm::StringRef inject = "", Pipeline own = {});

} // namespace mlir::nb

#endif
