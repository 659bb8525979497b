// Pipelines made of others.
#ifndef NB_LAB_PIPELINEVARIANTS_H
#define NB_LAB_PIPELINEVARIANTS_H

#include "lib/Compiler/Lab/Trial.h"
#include "lib/Compiler/Pipelines/Pipelines.h"

namespace mlir::nb {

/// The compiler's own, from the program to the LLVM dialect, for the target and precision.
llvm::Expected<Pipeline> ownPipeline(Subject &subject, const TrialOptions &options);
/// The same as text says it, one of the user's.
llvm::Expected<Pipeline> wholePipeline(Subject &subject, const TrialOptions &options);
/// The files of --patterns, which act on every pipeline, as passes. Clears `patterns`.
Pipeline patternsAsPasses(std::string &patterns);

struct NamedPipeline {
  std::string name, text;
};

/// A pipeline without one of its passes, wherever that occurs: "without nb-fuse". `pass` "each":
/// one for every pass that nb IR can do without, those of the project's own. An error names the
/// passes that there are.
llvm::Expected<std::vector<NamedPipeline>> leaveOut(llvm::StringRef pass, llvm::StringRef pipeline);

} // namespace mlir::nb

#endif
