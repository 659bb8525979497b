// The IR after every pass, in files.
#ifndef NB_COMPILER_DUMPIR_H
#define NB_COMPILER_DUMPIR_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::nb {

/// A folder with a program on its way: 00-input.mlir, then NN-PASS.mlir after every pass. The first
/// line of each file is the nb-opt command that makes it from the file before.
class IRDump {
public:
  /// Makes the folder if it is missing.
  static llvm::Expected<IRDump> create(llvm::StringRef directory);

  /// Writes the next file. `pipeline`, as nb-opt's --pass-pipeline takes it, made it of the file
  /// before.
  llvm::Error write(ModuleOp program, llvm::StringRef pass, llvm::StringRef pipeline);
  /// Writes the first file; `from` names the file that it is a copy of, relative to the folder, if
  /// there is one.
  llvm::Error writeInput(ModuleOp program, llvm::StringRef from = "");

  bool isEmpty() const { return count == 0; }
  /// The name of the file that was written last, without its folder.
  const std::string &last() const { return previous; }

private:
  explicit IRDump(llvm::StringRef directory) : directory(directory) {}
  llvm::Error writeFile(ModuleOp program, llvm::StringRef name, llvm::StringRef command);

  std::string directory, previous;
  unsigned count = 0;
};

} // namespace mlir::nb

#endif
