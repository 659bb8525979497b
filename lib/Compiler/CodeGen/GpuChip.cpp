#include "lib/Compiler/CodeGen/GpuChip.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;
using namespace mlir::nb;

/// AMD: the instruction set manuals of CDNA 2 and 3 and RDNA 3 and 4 and the cards' data sheets;
/// one die of an MI250X. NVIDIA: tables "Technical Specifications per Compute Capability" and
/// "Throughput of Native Arithmetic Instructions" of the CUDA C++ Programming Guide, and the cards'
/// data sheets.
static constexpr GpuChip chips[] = {
    {.name = "gfx90a",
     .card = "MI250X, one of two dies",
     .units = 4 * 110,
     .clock = 1.7,
     .warp = 64,
     .parts = 1,
     .registers = 512,
     .granule = 8,
     .scalars = 800,
     .warps = 8,
     .shared = 65536 / 4,
     .together = true,
     .rates = {4, 4, 16, 16, 4, 0, 0}},
    {.name = "gfx942",
     .card = "MI300X",
     .units = 4 * 304,
     .clock = 2.1,
     .warp = 64,
     .parts = 1,
     .registers = 512,
     .granule = 8,
     .scalars = 800,
     .warps = 8,
     .shared = 65536 / 4,
     .together = true,
     .rates = {4, 4, 16, 16, 4, 0, 0}},
    {.name = "gfx1100",
     .card = "RX 7900 XTX",
     .units = 2 * 96,
     .clock = 2.5,
     .warp = 32,
     .parts = 1,
     .registers = 1536,
     .granule = 24,
     .scalars = 0,
     .warps = 16,
     .shared = 131072 / 4,
     .together = true,
     .rates = {16, 1, 64, 4, 1, 0, 0}},
    {.name = "gfx1201",
     .card = "RX 9070 XT",
     .units = 2 * 64,
     .clock = 2.97,
     .warp = 32,
     .parts = 1,
     .registers = 1536,
     .granule = 24,
     .scalars = 0,
     .warps = 16,
     .shared = 131072 / 4,
     .together = true,
     .rates = {32, 1, 128, 4, 1, 0, 0}},
    {.name = "sm_80",
     .card = "A100",
     .units = 108,
     .clock = 1.41,
     .warp = 32,
     .parts = 4,
     .registers = 2048,
     .granule = 8,
     .scalars = 0,
     .warps = 64,
     .shared = 164 * 1024,
     .together = false,
     .rates = {1, 0.5, 2, 2, 0.5, 1, 0.25}},
    {.name = "sm_90",
     .card = "H200",
     .units = 132,
     .clock = 1.98,
     .warp = 32,
     .parts = 4,
     .registers = 2048,
     .granule = 8,
     .scalars = 0,
     .warps = 64,
     .shared = 228 * 1024,
     .together = false,
     .rates = {0.5, 0.25, 2, 2, 0.5, 1, 0.25}},
    {.name = "sm_100",
     .card = "B200",
     .units = 148,
     .clock = 1.965,
     .warp = 32,
     .parts = 4,
     .registers = 2048,
     .granule = 8,
     .scalars = 0,
     .warps = 64,
     .shared = 228 * 1024,
     .together = false,
     .rates = {0.5, 0.25, 2, 2, 0.5, 1, 0.25}},
};

const GpuChip *mlir::nb::findGpuChip(StringRef name) {
  const auto *found = find_if(chips, [&](const GpuChip &chip) { return chip.name == name; });
  return found == std::end(chips) ? nullptr : found;
}

Occupancy mlir::nb::occupancyOf(const DeviceUse &use, const GpuChip &chip) {
  Occupancy found{chip.warps, "warps"};
  const auto limit = [&](unsigned warps, const char *by) {
    if (warps < found.warps)
      found = {warps, by};
  };
  const unsigned taken = unsigned(alignTo(std::max(use.registers, 1u), chip.granule));
  limit(chip.registers / chip.parts / taken * chip.parts, "registers");
  if (chip.scalars && use.scalarRegisters)
    limit(chip.scalars / use.scalarRegisters, "scalar registers");
  const unsigned ofBlock = std::max(1u, use.threads / chip.warp);
  if (use.sharedBytes)
    limit(chip.shared / use.sharedBytes * ofBlock, "shared memory");
  // A multiprocessor holds whole blocks; the waves of one lie on several SIMD units.
  if (!chip.together)
    found.warps = found.warps / ofBlock * ofBlock;
  return found;
}

void PipeUse::add(const InstructionClass &instruction) {
  using Kind = InstructionKind;
  const GpuRates &rates = chip.rates;
  if (instruction.scalar || instruction.kind == Kind::Wait)
    return;
  issued += rates.issue * instruction.issued;
  const bool is64 = instruction.type == NumberType::F64;
  const bool is32 = instruction.type == NumberType::F32 && instruction.kind != Kind::Compare;
  switch (instruction.kind) {
  case Kind::MultiplyAdd:
  case Kind::AddMultiply:
  case Kind::Compare:
    if (is64)
      f64 += rates.f64;
    else if (is32)
      f32 += rates.f32;
    else
      other += rates.other * instruction.issued;
    break;
  case Kind::Divide:
    slow += is64 ? rates.slow64 : rates.slow32;
    break;
  case Kind::Convert:
    (is64 ? slow : other) += is64 ? rates.slow64 : rates.other;
    break;
  case Kind::Shuffle:
  case Kind::Load:
  case Kind::Store:
    memory += rates.memory;
    break;
  case Kind::Integer:
  case Kind::Move:
    other += rates.other * instruction.issued;
    break;
  case Kind::Branch:
  case Kind::Wait:
    break;
  }
}

std::vector<Occupied> PipeUse::parts() const {
  std::vector<Occupied> all;
  if (chip.together)
    all = {{"vector unit", f64 + f32 + slow + other}};
  else
    all = {{"issue", issued},
           {"f64", f64},
           {"f32", f32},
           {"integers, comparisons", other},
           {"conversions, reciprocals", slow},
           {"loads, exchanges", memory}};
  erase_if(all, [](const Occupied &part) { return part.cycles == 0; });
  return all;
}
