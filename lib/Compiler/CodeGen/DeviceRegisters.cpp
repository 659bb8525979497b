#include "lib/Compiler/CodeGen/DeviceRegisters.h"

#include "lib/Conversion/KernelLayout.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace {
/// Of the loops over samples.
struct Size {
  unsigned instructions = 0; ///< of the largest innermost loop
  unsigned carried = 0;      ///< most numbers that a loop adds up
};
} // namespace

static Size sizeOf(Function &kernel) {
  Size size;
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    unsigned carried = 0, instructions = 0;
    for (PHINode &phi : loop->getHeader()->phis())
      carried += phi.getType()->isFloatingPointTy();
    if (loop->isInnermost())
      for (BasicBlock *block : loop->blocks())
        instructions += block->size();
    size.carried = std::max(size.carried, carried);
    size.instructions = std::max(size.instructions, instructions);
  }
  return size;
}

/// Blocks of 128 threads that a multiprocessor, with 65536 registers, should hold. What ptxas makes of
/// these limits stands in docs/gpu.md: at most a few registers spilled, and none in a loop over
/// samples.
static unsigned blocksFor(const Size &size, bool sums) {
  if (size.instructions < 250)
    return 8; // 64 registers each
  if (!sums)
    return 4; // 128
  return size.carried <= 8 && size.instructions < 800 ? 3 : 2; // 168, 255
}

void mlir::nb::limitRegisters(Module &module) {
  namespace layout = mlir::nb::layout;
  for (Function &kernel : module) {
    if (kernel.getCallingConv() != CallingConv::PTX_Kernel ||
        kernel.arg_size() < layout::argumentsOnDevice)
      continue;
    const bool sums = !kernel.getArg(layout::accumulators)->use_empty();
    kernel.addFnAttr("nvvm.minctasm", std::to_string(blocksFor(sizeOf(kernel), sums)));
  }
}
