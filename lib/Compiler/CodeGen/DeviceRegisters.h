// How many registers a GPU's thread gets.
#ifndef NB_COMPILER_DEVICEREGISTERS_H
#define NB_COMPILER_DEVICEREGISTERS_H

#include "llvm/IR/Module.h"

namespace mlir::nb {

/// Says of every kernel how many blocks are to run on a multiprocessor at the same time, by the
/// size of its loops, which limits the registers of a thread. Left to itself ptxas spills more for
/// less.
void limitRegisters(llvm::Module &module);

/// The threads of a block, which the kernel says itself; 0: it does not.
unsigned threadsOfBlock(const llvm::Function &kernel);

} // namespace mlir::nb

#endif
