#include "lib/Compiler/CodeGen/InnerLoop.h"

#include "lib/Compiler/CodeGen/CodeGen.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/PseudoSourceValue.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/MC/MCSymbol.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"

using namespace llvm;
using namespace mlir::nb;

namespace {
/// Counts the instructions of one loop.
class LoopCounter {
public:
  explicit LoopCounter(const MachineFunction &function)
      : frame(function.getFrameInfo()), reserved(function.getRegInfo().getReservedRegs()),
        registers(*function.getSubtarget().getRegisterInfo()),
        names(*function.getSubtarget().getInstrInfo()) {}

  InnerLoop count(MachineLoop &machineLoop) {
    loop = {};
    vectors.clear();
    general.clear();
    loop.label = machineLoop.getTopBlock()->getSymbol()->getName().str();
    for (const MachineBasicBlock *block : machineLoop.blocks())
      for (const MachineInstr &instruction : *block)
        if (!instruction.isMetaInstruction())
          count(instruction);
    loop.vectorRegisters = vectors.size();
    loop.generalRegisters = general.size();
    return loop;
  }

private:
  void count(const MachineInstr &instruction) {
    bool isVector = false;
    for (const MachineOperand &operand : instruction.explicit_operands()) {
      if (!operand.isReg() || !operand.getReg().isPhysical() || reserved[operand.getReg()])
        continue;
      // Registers that overlap are one in several widths.
      const auto unit =
          static_cast<unsigned>(*registers.regunits(operand.getReg().asMCReg()).begin());
      const bool vector = holdsFloats(operand.getReg().asMCReg());
      (vector ? vectors : general).insert(unit);
      isVector |= vector;
    }
    ++(isVector ? loop.vector : loop.scalar);
    const StringRef name = names.getName(instruction.getOpcode());
    loop.multiplyAdds += isVector && (name.starts_with("VFM") || name.starts_with("VFNM") ||
                                      name.starts_with("FML") || name.starts_with("FMADD") ||
                                      name.starts_with("FMSUB") || name.starts_with("FNM"));
    loop.loads += instruction.mayLoad();
    loop.stores += instruction.mayStore();
    for (const MachineMemOperand *memory : instruction.memoperands()) {
      const unsigned bytes =
          memory->getSize().hasValue() ? unsigned(memory->getSize().getValue().getFixedValue()) : 0;
      const bool spilled = isSpillSlot(*memory);
      if (memory->isLoad()) {
        loop.loadedBytes += bytes;
        loop.reloads += spilled;
      }
      if (memory->isStore()) {
        loop.storedBytes += bytes;
        loop.spills += spilled;
      }
    }
  }

  bool holdsFloats(MCRegister reg) const {
    return any_of(registers.regclasses(), [&](const TargetRegisterClass *kind) {
      return kind->contains(reg) &&
             any_of(ArrayRef<MVT>{MVT::f32, MVT::f64, MVT::v2f64, MVT::v4f64, MVT::v8f64},
                    [&](MVT type) { return registers.isTypeLegalForClass(*kind, type); });
    });
  }

  bool isSpillSlot(const MachineMemOperand &memory) const {
    const auto *slot = dyn_cast_or_null<FixedStackPseudoSourceValue>(memory.getPseudoValue());
    return slot && frame.isSpillSlotObjectIndex(slot->getFrameIndex());
  }

  const MachineFrameInfo &frame;
  const BitVector reserved;
  const TargetRegisterInfo &registers;
  const TargetInstrInfo &names;
  InnerLoop loop;
  DenseSet<unsigned> vectors, general;
};

/// Looks at a function when all of its instructions are there and in their places.
class FindBusiestLoop : public MachineFunctionPass {
public:
  static char ID;
  FindBusiestLoop(StringRef function, std::optional<InnerLoop> &busiest)
      : MachineFunctionPass(ID), function(function), busiest(busiest) {}

  StringRef getPassName() const override { return "find the busiest inner loop"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.addRequired<MachineLoopInfoWrapperPass>();
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &machineFunction) override {
    if (machineFunction.getName() != function)
      return false;
    LoopCounter counter(machineFunction);
    auto &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    for (MachineLoop *loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost())
        continue;
      InnerLoop counted = counter.count(*loop);
      if (!busiest || busiest->vector < counted.vector)
        busiest = std::move(counted);
    }
    return false;
  }

private:
  StringRef function;
  std::optional<InnerLoop> &busiest;
};
char FindBusiestLoop::ID = 0;
} // namespace

/// The loop's lines in the assembly: from its label to the last jump there.
static void findLines(InnerLoop &loop, StringRef assembly) {
  SmallVector<StringRef> lines;
  assembly.split(lines, '\n');
  for (auto [i, line] : enumerate(lines)) {
    if (line.starts_with(loop.label) && line.drop_front(loop.label.size()).starts_with(":"))
      loop.firstLine = loop.lastLine = i;
    else if (loop.firstLine && line.starts_with("\t") && line.rtrim().ends_with(loop.label))
      loop.lastLine = i;
  }
  for (StringRef line : ArrayRef(lines).slice(loop.firstLine, loop.lastLine + 1 - loop.firstLine))
    if (StringRef text = line.trim(); line.starts_with("\t") && !text.empty() &&
                                      !text.starts_with(".") && !text.starts_with("#") &&
                                      !text.starts_with("//"))
      loop.lines.push_back(text.str());
}

Expected<std::string> mlir::nb::emitAssembly(Module &module, TargetMachine &machine,
                                             StringRef function, std::optional<InnerLoop> &loop) {
  RegisterTargetPassConfigCallback look(
      [&](TargetMachine &, legacy::PassManagerBase &, TargetPassConfig *config) {
        config->insertPass(&FuncletLayoutID, new FindBusiestLoop(function, loop));
      });
  auto code = emitCode(module, machine, CodeGenFileType::AssemblyFile);
  if (!code)
    return code.takeError();
  std::string assembly(code->begin(), code->end());
  if (loop)
    findLines(*loop, assembly);
  return assembly;
}

std::string InnerLoop::toString() const {
  return formatv("inner loop              {0}\n"
                 "instructions            {1}\n"
                 "  vector                {2}\n"
                 "  scalar                {3}\n"
                 "multiply-adds           {4}\n"
                 "loads                   {5}\n"
                 "  of spilled registers  {6}\n"
                 "stores                  {7}\n"
                 "  spills                {8}\n"
                 "vector registers        {9}\n"
                 "general registers       {10}\n",
                 label, instructions(), vector, scalar, multiplyAdds, loads, reloads, stores,
                 spills, vectorRegisters, generalRegisters);
}
