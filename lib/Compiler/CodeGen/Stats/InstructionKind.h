// Kinds of instructions, by their names in LLVM.
#ifndef NB_COMPILER_INSTRUCTIONKIND_H
#define NB_COMPILER_INSTRUCTIONKIND_H

#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/TargetParser/Triple.h"

#include <array>

namespace mlir::nb {

enum class InstructionKind {
  MultiplyAdd,
  AddMultiply,
  Divide,  ///< divisions, roots, estimates of reciprocals, other functions of the hardware
  Convert, ///< from or to floating point
  Compare, ///< and selections, roundings and bit operations of floating point
  Shuffle, ///< moves between lanes of a register or threads of a warp
  Load,    ///< and nothing else; other instructions may load an operand
  Store,
  Integer,
  Move,
  Branch,
  Wait, ///< AMD: waits for loads, and hints
};
constexpr unsigned numKinds = unsigned(InstructionKind::Wait) + 1;

/// "multiply-add", for people; "multiply_add" in JSON.
llvm::StringRef nameOf(InstructionKind kind);
std::string keyOf(InstructionKind kind);

/// The type that the arithmetic is in, and of a conversion the wider one.
enum class NumberType { F64, F32, Other };
constexpr unsigned numTypes = 3;

struct InstructionClass {
  InstructionKind kind = InstructionKind::Integer;
  NumberType type = NumberType::Other;
  bool scalar = false; ///< AMD: of the unit that a wave has beside that for vectors
  /// Instructions that the machine executes for it: PTX has some that ptxas makes two of or folds
  /// into others.
  unsigned issued = 1;
};

/// Is the code for a GPU? SPIR-V is.
bool isGpu(const llvm::Triple &target);

/// Nothing for what is no instruction of the machine.
std::optional<InstructionClass> classOf(const llvm::MachineInstr &instruction, llvm::StringRef name,
                                        const llvm::Triple &target);

/// The bytes that a load or store of PTX moves for each thread, by its name in LLVM, which forgets
/// the memory that read-only loads are from.
unsigned bytesOf(llvm::StringRef name);

} // namespace mlir::nb

#endif
