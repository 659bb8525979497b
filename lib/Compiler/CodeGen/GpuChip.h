// Chips of GPUs, as their makers describe them: limits of occupancy, and speeds.
#ifndef NB_COMPILER_GPUCHIP_H
#define NB_COMPILER_GPUCHIP_H

#include "lib/Compiler/CodeGen/Stats/InstructionKind.h"
#include "lib/Compiler/CodeGen/Stats/PortUse.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::nb {

/// Cycles that a unit is occupied with an instruction of a warp or wave.
struct GpuRates {
  double f64, f32;
  double slow64; ///< conversions from and to f64, reciprocals and roots in it
  double slow32; ///< reciprocals and roots
  double other;  ///< comparisons, selections, integers, moves
  double memory; ///< loads, stores, exchanges between threads; 0: beside the others
  double issue;  ///< any; 0: no limit of its own
};

struct GpuChip {
  llvm::StringLiteral name, card;
  unsigned units;     ///< SIMD units of AMD's, multiprocessors of NVIDIA's
  double clock;       ///< GHz
  unsigned warp;      ///< threads that run in step
  unsigned parts;     ///< parts of a unit, among which its registers are divided
  unsigned registers; ///< registers of a unit for each thread of a warp
  unsigned granule;   ///< registers are handed out to threads in multiples of it
  unsigned scalars;   ///< scalar registers of a unit; 0: no limit
  unsigned warps;     ///< most warps of a unit
  unsigned shared;    ///< bytes of shared memory of a unit
  bool together;      ///< arithmetic of all types shares one pipe
  GpuRates rates;
};

/// Null where nothing is known about it.
const GpuChip *findGpuChip(llvm::StringRef name);

/// Registers and memory of a kernel, as ptxas or the notes of a code object say.
struct DeviceUse {
  unsigned registers = 0;       ///< registers of a thread
  unsigned scalarRegisters = 0; ///< AMD: scalar registers of a wave
  unsigned spills = 0;          ///< AMD: spilled registers; NVIDIA: bytes of stores
  unsigned scalarSpills = 0;    ///< AMD: spilled scalar registers
  unsigned stackBytes = 0;      ///< memory of a thread
  unsigned sharedBytes = 0;     ///< memory that the threads of a block share
  unsigned threads = 0;         ///< threads of a block
};

struct Occupancy {
  unsigned warps = 0; ///< warps that a unit holds at once
  std::string limit;  ///< the resource that lets no more in: "registers", "scalar registers", ...
};
Occupancy occupancyOf(const DeviceUse &use, const GpuChip &chip);

/// Adds up how long a warp's instructions occupy the parts of a unit.
class PipeUse {
public:
  explicit PipeUse(const GpuChip &chip) : chip(chip) {}
  void add(const InstructionClass &instruction);
  std::vector<Occupied> parts() const;

private:
  const GpuChip &chip;
  double f64 = 0, f32 = 0, slow = 0, other = 0, memory = 0, issued = 0;
};

} // namespace mlir::nb

#endif
