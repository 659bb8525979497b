#include "lib/Compiler/CodeGen/Stats/PortUse.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::nb;

const Occupied *mlir::nb::longest(ArrayRef<Occupied> parts) {
  const auto found =
      max_element(parts, [](const Occupied &a, const Occupied &b) { return a.cycles < b.cycles; });
  return found == parts.end() ? nullptr : found;
}

StringRef mlir::nb::modelOf(StringRef cpu) {
  return StringSwitch<StringRef>(cpu)
      .Cases(
          {"icelake-server", "sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d"},
          "skylake-avx512")
      .Case("znver5", "")
      .Default(cpu);
}

void PortUse::add(const MCSchedClassDesc &instruction, bool isMove, double times) {
  if (!instruction.isValid())
    return;
  operations += times * instruction.NumMicroOps;
  if (isMove)
    return;
  // A port's use is listed for the groups that it is in, too.
  for (const MCWriteProcResEntry *entry = processor.getWriteProcResBegin(&instruction);
       entry != processor.getWriteProcResEnd(&instruction); ++entry)
    cycles[entry->ProcResourceIdx] += times * (entry->ReleaseAtCycle - entry->AcquireAtCycle);
}

std::vector<Occupied> PortUse::parts() const {
  std::vector<Occupied> found;
  const MCSchedModel &model = processor.getSchedModel();
  if (operations > 0)
    found.push_back({"issue", operations / issueWidth});
  for (unsigned i = 1; i < cycles.size(); ++i)
    if (const MCProcResourceDesc &port = *model.getProcResource(i); cycles[i] > 0)
      found.push_back({port.Name, cycles[i] / port.NumUnits});
  return found;
}
