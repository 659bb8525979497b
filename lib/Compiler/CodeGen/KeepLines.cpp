#include "lib/Compiler/CodeGen/KeepLines.h"

#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"

#include <memory>

using namespace llvm;

namespace {
/// The opcode tells whether an instruction is still the one that was there.
struct Known {
  unsigned opcode;
  DebugLoc line;
};
using KnownLines = DenseMap<const MachineInstr *, Known>;

/// Changes nothing but lines.
class LinePass : public MachineFunctionPass {
public:
  LinePass(char &id, std::shared_ptr<KnownLines> known)
      : MachineFunctionPass(id), known(std::move(known)) {}

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

protected:
  std::shared_ptr<KnownLines> known;
};

class RememberLines : public LinePass {
public:
  static char ID;
  explicit RememberLines(std::shared_ptr<KnownLines> known) : LinePass(ID, std::move(known)) {}
  StringRef getPassName() const override { return "remember the lines of instructions"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    known->clear();
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        if (const DebugLoc &line = instruction.getDebugLoc(); line && line.getLine() != 0)
          (*known)[&instruction] = {instruction.getOpcode(), line};
    return false;
  }
};
char RememberLines::ID = 0;

class RestoreLines : public LinePass {
public:
  static char ID;
  explicit RestoreLines(std::shared_ptr<KnownLines> known) : LinePass(ID, std::move(known)) {}
  StringRef getPassName() const override { return "restore the lines of instructions"; }

  bool runOnMachineFunction(MachineFunction &function) override {
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block) {
        const auto found = known->find(&instruction);
        if (found != known->end() && found->second.opcode == instruction.getOpcode() &&
            (!instruction.getDebugLoc() || instruction.getDebugLoc().getLine() == 0))
          instruction.setDebugLoc(found->second.line);
      }
    return false;
  }
};
char RestoreLines::ID = 0;

thread_local bool keeps = false;

void insertPasses(TargetMachine &, PassManagerBase &, TargetPassConfig *config) {
  if (!keeps)
    return;
  const auto known = std::make_shared<KnownLines>();
  config->insertPass(&FinalizeISelID, new RememberLines(known));
  for (char *mover : {&EarlyMachineLICMID, &MachineSinkingLegacyID, &MachineLICMID})
    config->insertPass(mover, new RestoreLines(known));
}
} // namespace

void mlir::nb::prepareToKeepLines() {
  static const RegisterTargetPassConfigCallback &registered =
      *new RegisterTargetPassConfigCallback(insertPasses); // stays
  (void)registered;
}

mlir::nb::KeepLines::KeepLines() { keeps = true; }
mlir::nb::KeepLines::~KeepLines() { keeps = false; }
