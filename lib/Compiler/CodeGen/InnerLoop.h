// What a kernel spends its time in.
#ifndef NB_COMPILER_INNERLOOP_H
#define NB_COMPILER_INNERLOOP_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::nb {

/// The innermost loop of a function with the most floating-point instructions, counted in assembly:
/// AT&T syntax of x86, or AArch64.
struct InnerLoop {
  std::string label;
  size_t firstLine = 0, lastLine = 0; ///< of the assembly, counted from 0, both in the loop
  std::vector<std::string> lines;     ///< its instructions
  unsigned vector = 0, scalar = 0;    ///< those with a vector register, and the others
  unsigned multiplyAdds = 0;          ///< of the vector ones
  unsigned loads = 0, stores = 0;
  unsigned reloads = 0, spills = 0;          ///< those of them from and to the stack
  unsigned loadedBytes = 0, storedBytes = 0; ///< by loads and stores, each time around
  unsigned vectorRegisters = 0, generalRegisters = 0;

  unsigned instructions() const { return vector + scalar; }
  std::string toString() const;
};

/// Nothing where the function has no loop, or is not there.
std::optional<InnerLoop> findInnerLoop(llvm::StringRef assembly, llvm::StringRef function);

} // namespace mlir::nb

#endif
