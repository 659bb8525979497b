// A check that a compiled program reads nothing outside of its arguments.
#ifndef NB_COMPILER_CHECKREADS_H
#define NB_COMPILER_CHECKREADS_H

#include "lib/Compiler/Run/RunProgram.h"

namespace mlir::nb {

/// A kernel checks nothing of what it reads. Refuses arguments with which `function` reads outside
/// of its tables or its mask, as far as that follows from counts and indices that are arguments,
/// constants or induction variables, and loops too long to be run. An index that the program
/// computes is not looked at: see nb-run --check-bounds.
llvm::Error checkReads(func::FuncOp function, const RunArguments &arguments);

} // namespace mlir::nb

#endif
