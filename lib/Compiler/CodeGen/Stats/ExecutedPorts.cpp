#include "lib/Compiler/CodeGen/Stats/PortUse.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace mlir::nb;

namespace {
/// Reads the instructions of a processor.
class Reader {
public:
  static Expected<std::unique_ptr<Reader>> create(StringRef triple, StringRef cpu) {
    InitializeNativeTarget();
    InitializeNativeTargetDisassembler();
    std::string problem;
    const Triple parsed(triple);
    const llvm::Target *target = TargetRegistry::lookupTarget(parsed, problem);
    if (!target)
      return createStringError("instructions of " + triple + " cannot be read here");
    return std::unique_ptr<Reader>(new Reader(*target, parsed, cpu));
  }

  /// Adds the instruction at the beginning of the bytes; false: it is none.
  bool add(ArrayRef<uint8_t> bytes, uint64_t address, double times, PortUse &use) const {
    MCInst instruction;
    uint64_t size = 0;
    if (disassembler->getInstruction(instruction, size, bytes, address, nulls()) !=
        MCDisassembler::Success)
      return false;
    const MCSchedModel &model = processor->getSchedModel();
    const MCInstrDesc &description = instructions->get(instruction.getOpcode());
    unsigned found = description.getSchedClass();
    while (found && model.getSchedClassDesc(found)->isVariant())
      found = processor->resolveVariantSchedClass(found, &instruction, instructions.get(),
                                                  model.getProcessorID());
    use.add(*model.getSchedClassDesc(found), description.isMoveReg(), times);
    return true;
  }

  std::unique_ptr<const MCSubtargetInfo> processor;

private:
  Reader(const llvm::Target &target, const Triple &triple, StringRef cpu)
      : processor(target.createMCSubtargetInfo(triple, cpu, "")),
        registers(target.createMCRegInfo(triple)),
        assembly(target.createMCAsmInfo(*registers, triple, options)),
        context(triple, assembly.get(), registers.get(), processor.get()),
        instructions(target.createMCInstrInfo()),
        disassembler(target.createMCDisassembler(*processor, context)) {}

  const MCTargetOptions options;
  std::unique_ptr<const MCRegisterInfo> registers;
  std::unique_ptr<const MCAsmInfo> assembly;
  MCContext context;
  std::unique_ptr<const MCInstrInfo> instructions;
  std::unique_ptr<const MCDisassembler> disassembler;
};
} // namespace

Expected<std::vector<Occupied>> mlir::nb::findOccupied(ArrayRef<char> object, StringRef target,
                                                       ArrayRef<uint64_t> addresses,
                                                       ArrayRef<uint64_t> counts) {
  const auto [triple, rest] = target.split(' ');
  const StringRef cpu = rest.split(' ').first, modelled = modelOf(cpu);
  if (!Triple(triple).isX86() || modelled.empty())
    return std::vector<Occupied>();
  auto reader = Reader::create(triple, modelled), own = Reader::create(triple, cpu);
  if (!reader)
    return reader.takeError();
  if (!own)
    return own.takeError();
  if (!(*reader)->processor->getSchedModel().hasInstrSchedModel())
    return std::vector<Occupied>();
  auto file = object::ELFFile<object::ELF64LE>::create(StringRef(object.data(), object.size()));
  if (!file)
    return file.takeError();
  PortUse use(*(*reader)->processor, (*own)->processor->getSchedModel().IssueWidth);
  for (auto [address, count] : zip_equal(addresses, counts)) {
    // Within the segment that is loaded there.
    auto begin = file->toMappedAddr(address);
    if (!begin)
      return begin.takeError();
    const auto *end = reinterpret_cast<const uint8_t *>(object.end());
    if (!(*reader)->add(ArrayRef(*begin, end), address, double(count), use))
      return createStringError("there is no instruction of the kernel at " + Twine(address));
  }
  return use.parts();
}
