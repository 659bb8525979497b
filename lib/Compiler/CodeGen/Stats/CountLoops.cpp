#include "lib/Compiler/CodeGen/CodeGen.h"
#include "lib/Compiler/CodeGen/Stats/KernelStats.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
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
#include "llvm/CodeGen/TargetSchedule.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/MC/MCSymbol.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"

using namespace llvm;
using namespace mlir::nb;

namespace {
/// Counts the instructions of one loop at a time.
class LoopCounter {
public:
  LoopCounter(const MachineFunction &function, const GpuChip *chip)
      : frame(function.getFrameInfo()), reserved(function.getRegInfo().getReservedRegs()),
        registers(*function.getSubtarget().getRegisterInfo()),
        names(*function.getSubtarget().getInstrInfo()),
        target(function.getTarget().getTargetTriple()), chip(chip) {
    if (!isGpu(target))
      findModel(function);
  }

  CodeLoop count(const MachineLoop &machineLoop) {
    loop = {};
    vectors.clear();
    general.clear();
    lines.clear();
    if (processor)
      ports.emplace(*processor, issueWidth);
    if (chip)
      pipes.emplace(*chip);
    loop.label = machineLoop.getHeader()->getSymbol()->getName().str();
    if (loop.label.empty()) // it has none in an object file
      loop.label = "loop " + std::to_string(machineLoop.getHeader()->getNumber());
    loop.depth = machineLoop.getLoopDepth();
    loop.innermost = machineLoop.isInnermost();
    for (const MachineBasicBlock *block : machineLoop.blocks()) {
      if (any_of(machineLoop.getSubLoops(),
                 [&](const MachineLoop *inner) { return inner->contains(block); }))
        continue;
      if (const BasicBlock *source = block->getBasicBlock(); source && !isGpu(target))
        findLanes(*source);
      for (const MachineInstr &instruction : block->instrs())
        if (!instruction.isMetaInstruction() && !instruction.isBundle())
          count(instruction);
    }
    loop.vectorRegisters = vectors.size();
    loop.generalRegisters = general.size();
    unsigned most = 0;
    for (const auto &[line, instructions] : lines)
      if (instructions > most) {
        most = instructions;
        loop.line = line;
      }
    if (chip)
      loop.parts = pipes->parts();
    else if (ports)
      loop.parts = ports->parts();
    return loop;
  }

  /// Loads and stores of spilled registers in the whole function.
  void countSpills(const MachineFunction &function, KernelStats &stats) {
    loop = {};
    for (const MachineBasicBlock &block : function)
      for (const MachineInstr &instruction : block.instrs())
        if (!instruction.isBundle())
          countMemory(instruction);
    stats.spills = loop.spills;
    stats.reloads = loop.reloads;
  }

private:
  /// LLVM's model of the ports: that of the subtarget of an empty function for the processor that
  /// modelOf names.
  void findModel(const MachineFunction &function) {
    const StringRef cpu = function.getTarget().getTargetCPU(), modelled = modelOf(cpu);
    model.init(&function.getSubtarget());
    issueWidth = model.getIssueWidth();
    if (modelled.empty() || !model.hasInstrSchedModel())
      return;
    processor = &function.getSubtarget();
    if (modelled == cpu)
      return;
    other = std::make_unique<Module>("model", function.getFunction().getContext());
    llvm::Function *empty =
        llvm::Function::Create(FunctionType::get(Type::getVoidTy(other->getContext()), false),
                               GlobalValue::ExternalLinkage, "model", *other);
    empty->addFnAttr("target-cpu", modelled);
    const TargetSubtargetInfo *subtarget = function.getTarget().getSubtargetImpl(*empty);
    model.init(subtarget);
    processor = subtarget;
  }

  void count(const MachineInstr &instruction) {
    const auto found = classOf(instruction, names.getName(instruction.getOpcode()), target);
    if (!found)
      return;
    bool isVector = isGpu(target) && !found->scalar;
    for (const MachineOperand &operand : instruction.explicit_operands()) {
      if (!operand.isReg() || !operand.getReg().isPhysical() || reserved[operand.getReg()])
        continue;
      // Registers that overlap are one in several widths.
      const auto unit =
          static_cast<unsigned>(*registers.regunits(operand.getReg().asMCReg()).begin());
      const bool vector = holdsFloats(operand.getReg().asMCReg());
      (vector ? vectors : general).insert(unit);
      isVector |= vector && !isGpu(target);
    }
    ++(isVector ? loop.vector : loop.scalar);
    ++loop.kinds[unsigned(found->kind)][unsigned(found->type)];
    loop.loads += instruction.mayLoad();
    loop.stores += instruction.mayStore();
    countMemory(instruction);
    if (target.isNVPTX() && instruction.memoperands_empty()) {
      const bool loads = found->kind == InstructionKind::Load;
      loop.loads += loads && !instruction.mayLoad();
      (loads ? loop.loadedBytes : loop.storedBytes) +=
          loads || found->kind == InstructionKind::Store
              ? bytesOf(names.getName(instruction.getOpcode()))
              : 0;
    }
    if (const DebugLoc &place = instruction.getDebugLoc(); place && place.getLine())
      ++lines[place.getLine()];
    if (pipes)
      pipes->add(*found);
    else if (ports)
      ports->add(*model.resolveSchedClass(&instruction), instruction.isMoveReg());
  }

  void countMemory(const MachineInstr &instruction) {
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

  /// The program computes as many pixels at once as its vectors have elements.
  void findLanes(const BasicBlock &block) {
    for (const Instruction &instruction : block)
      if (const auto *type = dyn_cast<FixedVectorType>(instruction.getType()))
        if (type->getElementType()->isFloatingPointTy())
          loop.lanes = std::max(loop.lanes, type->getNumElements());
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
  const Triple &target;
  const GpuChip *chip;
  std::unique_ptr<Module> other;
  const MCSubtargetInfo *processor = nullptr; ///< whose ports; null: LLVM has no model of them
  unsigned issueWidth = 0;
  TargetSchedModel model;
  CodeLoop loop;
  DenseSet<unsigned> vectors, general;
  MapVector<unsigned, unsigned> lines;
  std::optional<PortUse> ports;
  std::optional<PipeUse> pipes;
};

/// Looks at a function when all of its instructions are there and in their places.
class CountLoops : public MachineFunctionPass {
public:
  static char ID;
  CountLoops(StringRef function, KernelStats &stats)
      : MachineFunctionPass(ID), function(function), stats(stats) {}

  StringRef getPassName() const override { return "count the instructions of loops"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.addRequired<MachineLoopInfoWrapperPass>();
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &machineFunction) override {
    if (machineFunction.getName() != function)
      return false;
    LoopCounter counter(machineFunction, stats.chip);
    counter.countSpills(machineFunction, stats);
    auto &loops = getAnalysis<MachineLoopInfoWrapperPass>().getLI();
    for (const MachineLoop *loop : loops.getLoopsInPreorder())
      stats.loops.push_back(counter.count(*loop));
    return false;
  }

private:
  StringRef function;
  KernelStats &stats;
};
char CountLoops::ID = 0;
} // namespace

Expected<SmallVector<char, 0>> mlir::nb::emitCounted(Module &module, TargetMachine &machine,
                                                     CodeGenFileType type, StringRef function,
                                                     KernelStats &stats) {
  // The last pass that all targets have.
  RegisterTargetPassConfigCallback look(
      [&](TargetMachine &, legacy::PassManagerBase &, TargetPassConfig *config) {
        config->insertPass(&MachineSanitizerBinaryMetadataID, new CountLoops(function, stats));
      });
  return emitCode(module, machine, type);
}
