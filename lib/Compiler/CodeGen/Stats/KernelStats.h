// The numbers of a kernel's code: its loops, what they are made of and how long that takes at
// least, and what a GPU needs to hold it.
#ifndef NB_COMPILER_KERNELSTATS_H
#define NB_COMPILER_KERNELSTATS_H

#include "lib/Compiler/CodeGen/GpuChip.h"
#include "lib/Compiler/CodeGen/Stats/InstructionKind.h"
#include "lib/Compiler/CodeGen/Stats/PortUse.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Target/TargetMachine.h"

#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::nb {

/// A loop as LLVM's code generator has it, without the loops in it.
struct CodeLoop {
  std::string label;
  unsigned depth = 1;
  bool innermost = false;
  unsigned line = 0;  ///< the line of the nb program that most instructions are for; 0: not known
  unsigned lanes = 1; ///< samples each time around, where the loop is the one over samples
  std::array<std::array<unsigned, numTypes>, numKinds> kinds{}; ///< instructions
  unsigned vector = 0, scalar = 0;  ///< those with a vector register, and the others
  unsigned loads = 0, stores = 0;   ///< instructions with a load or store, whatever else they do
  unsigned reloads = 0, spills = 0; ///< loads and stores that spill registers
  unsigned loadedBytes = 0, storedBytes = 0; ///< by loads and stores
  unsigned vectorRegisters = 0, generalRegisters = 0;
  std::vector<Occupied> parts; ///< each time around; empty: nothing is known of the machine

  unsigned instructions() const { return vector + scalar; }
  unsigned count(InstructionKind kind) const;
};

struct KernelStats {
  std::string function, target;
  std::string unit = "lane";        ///< "lane" or "thread": has a sample each time around
  std::vector<CodeLoop> loops;      ///< outer ones first
  unsigned spills = 0, reloads = 0; ///< instructions of the whole function
  const GpuChip *chip = nullptr;    ///< null: a processor, or nothing is known of the chip
  std::optional<DeviceUse> device;
  std::string noDevice; ///< why there is no `device` for a GPU

  /// The innermost loop with the most vector instructions; null: the function has no loop.
  const CodeLoop *inner() const;
  /// Cycles of a sample in a lane, or of one in each thread of a warp, where nothing waits;
  /// nothing where the machine is not known.
  std::optional<double> cyclesPerSample() const;
  /// The rate of a whole GPU, in 1/s.
  std::optional<double> samplesPerSecond() const;

  /// `lines`: those of the nb program; empty: not known.
  std::string toString(llvm::ArrayRef<llvm::StringRef> lines) const;
  llvm::json::Value toJson(llvm::ArrayRef<llvm::StringRef> lines) const;
};

/// Code of a module, with the numbers of `function`: no loops where it is not there. Not to be
/// called by two threads at once.
llvm::Expected<llvm::SmallVector<char, 0>>
emitCounted(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
            llvm::StringRef function, KernelStats &stats);

/// The lines of a loop in the assembly of its function.
struct LoopText {
  size_t first = 0, last = 0; ///< counted from 0, both in the loop
};
LoopText findLoop(const CodeLoop &loop, llvm::StringRef assembly);

} // namespace mlir::nb

#endif
