// Which pass it was, where one does not end in order.
#ifndef NB_COMPILER_PASSWATCH_H
#define NB_COMPILER_PASSWATCH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace mlir::nb {

/// Stands while a pass runs. Where the process crashes meanwhile, or is told to stop, standard
/// error says which pass it was, and the program as the pass found it lies in a file.
class PassWatch {
public:
  /// `pass`: its name; `pipeline`: as nb-opt's --pass-pipeline takes it.
  PassWatch(ModuleOp program, std::string pass, std::string pipeline);
  ~PassWatch();
  PassWatch(const PassWatch &) = delete;

  /// Writes the file; the command that shows what happens.
  std::string reproduce();

  const std::string &name() const { return pass; }

private:
  std::string pass, pipeline;
  OwningOpRef<ModuleOp> before;
};

} // namespace mlir::nb

#endif
