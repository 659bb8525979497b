// Debug information of kernels: lines of the nb program that they are made of.
//
// An op carries the number of its line through all passes, in its location. It is no FileLineColLoc
// before the program is translated, since messages would name a file that nobody wrote.
#ifndef NB_COMPILER_PROGRAMLINES_H
#define NB_COMPILER_PROGRAMLINES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <string>

namespace mlir::nb {

/// The text of a program, as --emit=nb prints it. Its ops know their lines from now on.
std::string numberLines(ModuleOp program);

/// A file for the program of a kernel that this process compiles for itself, in the folder that
/// NB_KERNEL_FILES names; empty where it names none. With CompileOptions::programFile of this name
/// gdb finds the kernel's lines, and perf its functions (docs/debugging.md).
std::string programFileOfProcess();

/// Makes places in `file` of the numbers, for the functions of a program in the LLVM dialect.
/// `linesAlone`: the debug information has nothing else.
LogicalResult placeLines(ModuleOp program, StringRef file, bool linesAlone);

/// Adds the program's text to what its translation becomes, as the section .GCC.command.line that
/// is not loaded.
void embedText(llvm::Module &module, StringRef text);

/// Names the instructions by their lines.
void nameByLines(llvm::Module &module);

/// Gives instructions that have lost their lines those that they are named by. LLVM takes lines
/// away from what it moves out of loops, so that nobody steps to and fro; but they are where the
/// time goes.
void restoreLines(llvm::Module &module);

} // namespace mlir::nb

#endif
