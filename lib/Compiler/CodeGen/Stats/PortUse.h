// How long instructions occupy a processor, by LLVM's scheduling model.
#ifndef NB_COMPILER_PORTUSE_H
#define NB_COMPILER_PORTUSE_H

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::nb {

/// A part of a processor, and the cycles for which it is occupied at least.
struct Occupied {
  std::string part;
  double cycles = 0;
};

/// The one that is occupied longest; null: there is none.
const Occupied *longest(llvm::ArrayRef<Occupied> parts);

/// The processor whose ports in LLVM's model are those of an x86 processor: itself in most cases.
/// Intel's servers from Ice Lake on have in LLVM the ports of clients, with one for products of 512
/// bits; they have two, as Skylake's servers do. Empty: there is no model. Zen 5 has in LLVM that
/// of Zen 4, which takes twice as long for 512 bits.
llvm::StringRef modelOf(llvm::StringRef cpu);

/// Adds up instructions. The model has latencies too, which are not looked at: the result is the
/// time that instructions take where none waits for another.
class PortUse {
public:
  /// `model`: whose ports; `issueWidth`: operations that the processor can begin in a cycle.
  PortUse(const llvm::MCSubtargetInfo &model, unsigned issueWidth)
      : processor(model), issueWidth(std::max(issueWidth, model.getSchedModel().IssueWidth)),
        cycles(model.getSchedModel().getNumProcResourceKinds()) {}

  /// `isMove`: from register to register, for which processors rename registers: it takes no port.
  void add(const llvm::MCSchedClassDesc &instruction, bool isMove, double times = 1);
  /// Ports and groups of ports, each per port, and "issue": operations by the number that the
  /// processor can begin at once. Those that are not used are left out.
  std::vector<Occupied> parts() const;

private:
  const llvm::MCSubtargetInfo &processor;
  unsigned issueWidth;
  std::vector<double> cycles;
  double operations = 0;
};

/// How long the instructions of a kernel file for x86 occupy the processor that `target` names, as
/// a kernel's descriptor says it, where each is executed as often as `counts` says of its address
/// in the file as it is loaded. Empty where nothing is known of the processor.
llvm::Expected<std::vector<Occupied>> findOccupied(llvm::ArrayRef<char> object,
                                                   llvm::StringRef target,
                                                   llvm::ArrayRef<uint64_t> addresses,
                                                   llvm::ArrayRef<uint64_t> counts);

} // namespace mlir::nb

#endif
