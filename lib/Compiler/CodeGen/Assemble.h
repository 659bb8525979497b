// PTX to cubin.
#ifndef NB_COMPILER_ASSEMBLE_H
#define NB_COMPILER_ASSEMBLE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::nb {

/// NVIDIA's assembler, another program.
class Assembler {
public:
  /// As nanobragg::gpu::findAssembler; without `path` there is none.
  static llvm::Expected<Assembler> find(llvm::StringRef chip);

  explicit operator bool() const { return !path.empty(); }
  /// The version of the CUDA toolkit that it belongs to, such as "13.0".
  const std::string &version() const { return release; }
  /// The code of one chip, an ELF file. `report`: takes what the assembler says of the registers.
  llvm::Expected<llvm::SmallVector<char, 0>>
  assemble(llvm::ArrayRef<char> ptx, llvm::StringRef chip, std::string *report = nullptr) const;

private:
  std::string path, release;
};

} // namespace mlir::nb

#endif
