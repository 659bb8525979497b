// Names of values in LLVM IR and in assembly.
//
// An op's name is its location, and MLIR translates locations only where they are lines of files.
// So the number of its name stands for a line while the program is translated.
#ifndef NB_COMPILER_INSTRUCTIONNAMES_H
#define NB_COMPILER_INSTRUCTIONNAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace mlir::nb {

/// Makes lines of the names in a program in the LLVM dialect. Returns the names: that of line N is
/// number N - 1.
std::vector<std::string> linesOfNames(ModuleOp program);

/// Names the instructions of `module`, the translation of `program`, and the phis that block
/// arguments became. With `keepLines` they stay there as debug
/// information, which assembly has as .loc; else none is left.
void nameInstructions(llvm::Module &module, ModuleOp program, llvm::ArrayRef<std::string> names,
                      bool keepLines);

} // namespace mlir::nb

#endif
