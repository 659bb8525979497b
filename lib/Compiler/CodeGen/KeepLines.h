// Lines of instructions that LLVM moves.
#ifndef NB_COMPILER_KEEPLINES_H
#define NB_COMPILER_KEEPLINES_H

namespace mlir::nb {

/// To be called once, before any thread generates code: LLVM's list of callbacks belongs to all.
void prepareToKeepLines();

/// While one lives, the code that this thread generates keeps its lines. LLVM takes them away from
/// what it moves out of loops and into branches.
class KeepLines {
public:
  KeepLines();
  ~KeepLines();
  KeepLines(const KeepLines &) = delete;
  KeepLines &operator=(const KeepLines &) = delete;
};

} // namespace mlir::nb

#endif
