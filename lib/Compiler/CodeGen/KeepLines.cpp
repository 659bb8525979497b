#include "lib/Compiler/CodeGen/KeepLines.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"

using namespace llvm;

namespace {
/// The opcode tells whether an instruction is still the one that was there.
struct Known {
  unsigned opcode;
  DebugLoc line;
};
using KnownLines = DenseMap<const MachineInstr *, Known>;

thread_local bool keeps = false;
thread_local KnownLines known; ///< lines in the function that is compiled

/// Changes nothing but lines.
class LinePass : public MachineFunctionPass {
public:
  using MachineFunctionPass::MachineFunctionPass;

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
};

class RememberLines : public LinePass {
public:
  static char ID;
  RememberLines() : LinePass(ID) {}
  StringRef getPassName() const override { return "remember the lines of instructions"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    known.clear();
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (const DebugLoc &line = instruction.getDebugLoc(); line && line.getLine() != 0)
          known[&instruction] = {instruction.getOpcode(), line};
    return false;
  }
};
char RememberLines::ID = 0;

class RestoreLines : public LinePass {
public:
  static char ID;
  RestoreLines() : LinePass(ID) {}
  StringRef getPassName() const override { return "restore the lines of instructions"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block) {
        const auto found = known.find(&instruction);
        if (found != known.end() && found->second.opcode == instruction.getOpcode() &&
            (!instruction.getDebugLoc() || instruction.getDebugLoc().getLine() == 0))
          instruction.setDebugLoc(found->second.line);
      }
    return false;
  }
};
char RestoreLines::ID = 0;

/// By their identities, since targets run some of the passes that move instructions twice, and a
/// pass is of one place.
void insertPasses(TargetMachine &, PassManagerBase &, TargetPassConfig *config) {
  if (!keeps)
    return;
  config->insertPass(&FinalizeISelID, &RememberLines::ID);
  for (char *mover : {&EarlyMachineLICMID, &MachineSinkingLegacyID, &MachineLICMID})
    config->insertPass(mover, &RestoreLines::ID);
}
} // namespace

void mlir::nb::prepareToKeepLines() {
  static RegisterPass<RememberLines> remember("nb-remember-lines", "remember lines");
  static RegisterPass<RestoreLines> restore("nb-restore-lines", "restore lines");
  static const RegisterTargetPassConfigCallback &registered =
      *new RegisterTargetPassConfigCallback(insertPasses); // stays
  (void)registered;
}

mlir::nb::KeepLines::KeepLines() { keeps = true; }
mlir::nb::KeepLines::~KeepLines() {
  keeps = false;
  known.clear();
}
