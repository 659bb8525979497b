// The loop in which a kernel spends its time.
#ifndef NB_COMPILER_INNERLOOP_H
#define NB_COMPILER_INNERLOOP_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::nb {

/// The innermost loop of a function with the most instructions on vector registers, as LLVM's code
/// generator has it.
struct InnerLoop {
  std::string label;
  size_t firstLine = 0, lastLine = 0; ///< lines of the assembly, counted from 0, both in the loop
  std::vector<std::string> lines;     ///< its instructions
  unsigned vector = 0, scalar = 0;    ///< those with a vector register, and the others
  unsigned multiplyAdds = 0;          ///< among those with a vector register
  unsigned loads = 0, stores = 0;
  unsigned reloads = 0, spills = 0;          ///< loads and stores that spill registers
  unsigned loadedBytes = 0, storedBytes = 0; ///< by loads and stores, each time around
  unsigned vectorRegisters = 0, generalRegisters = 0;

  unsigned instructions() const { return vector + scalar; }
  std::string toString() const;
};

/// Assembly of a module. `loop`: the busiest one of `function`; none where the function has no
/// loop, or is not there. Not to be called by two threads at once.
llvm::Expected<std::string> emitAssembly(llvm::Module &module, llvm::TargetMachine &machine,
                                         llvm::StringRef function, std::optional<InnerLoop> &loop);

} // namespace mlir::nb

#endif
