#include "lib/Compiler/CodeGen/DeviceRegisters.h"

#include "lib/Conversion/KernelLayout.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace {
/// The size of the loops over samples.
struct Size {
  unsigned instructions = 0; ///< in the largest innermost loop
  unsigned carried = 0;      ///< most numbers that a loop adds up
  bool lists = false;        ///< they run over lists of what is lit, which alone are of words
};
} // namespace

static Size sizeOf(Function &kernel) {
  Size size;
  for (Instruction &instruction : instructions(kernel))
    size.lists |= isa<LoadInst>(instruction) && instruction.getType()->isIntegerTy(32);
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

/// Blocks of 128 threads that a multiprocessor, with 65536 registers, should hold.
/// docs/rationale/gpu-programs.md has the effect of these limits on ptxas: images of plain crystals
/// spill nothing on sm_90, others little, and no loop over samples does.
static unsigned blocksFor(const Size &size, bool sums) {
  const bool small = size.instructions < 250;
  if (!sums)
    return small && !size.lists ? 5 : 4; // 102 registers each, 128
  if (small)
    return 4;
  // 168, 255
  return size.carried <= 8 && size.instructions < 800 ? 3 : 2;
}

void mlir::nb::limitRegisters(Module &module) {
  namespace layout = mlir::nb::layout;
  constexpr StringLiteral minctasm = "nvvm.minctasm";
  for (Function &kernel : module) {
    if (kernel.getCallingConv() != CallingConv::PTX_Kernel ||
        kernel.arg_size() < layout::argumentsOnDevice || kernel.hasFnAttribute(minctasm))
      continue;
    const bool sums = !kernel.getArg(layout::accumulators)->use_empty();
    kernel.addFnAttr(minctasm, std::to_string(blocksFor(sizeOf(kernel), sums)));
  }
}

unsigned mlir::nb::threadsOfBlock(const Function &kernel) {
  unsigned threads = 0;
  if (const MDNode *size = kernel.getMetadata("reqd_work_group_size"))
    return unsigned(mdconst::extract<ConstantInt>(size->getOperand(0))->getZExtValue());
  StringRef said = kernel.getFnAttribute("nvvm.maxntid").getValueAsString();
  said.consumeInteger(10, threads);
  return threads;
}
