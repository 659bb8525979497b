// Registers and memory of a GPU's kernel, as its assembler or its code object says.
#ifndef NB_COMPILER_DEVICENOTES_H
#define NB_COMPILER_DEVICENOTES_H

#include "lib/Compiler/CodeGen/GpuChip.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// From the notes of a code object of AMD's.
llvm::Expected<DeviceUse> readNotes(llvm::ArrayRef<char> object, llvm::StringRef kernel);

/// From what `ptxas -v` says.
llvm::Expected<DeviceUse> readAssemblerReport(llvm::StringRef report, llvm::StringRef kernel);

} // namespace mlir::nb

#endif
