//===- InterpretExperiment.h - an experiment without a kernel --*- C++ -*-===//
#ifndef NB_COMPILER_INTERPRETEXPERIMENT_H
#define NB_COMPILER_INTERPRETEXPERIMENT_H

#include "lib/Compiler/Compiler.h"
#include "nanobragg/CompilerABI.h"

namespace mlir::nb {

/// Runs the program of a structure in the interpreter; see nb_compiler_api::interpret. Returns the
/// report: the trace or the probes' statistics, if they were asked for.
llvm::Expected<std::string> interpretExperiment(const nanobragg::Structure &structure,
                                                const CompileOptions &compile,
                                                const void *const *arguments,
                                                const nb_interpret_options &options, void *image);

} // namespace mlir::nb

#endif
