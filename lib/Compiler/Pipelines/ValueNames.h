// Names of values that outlive the text that they are in.
//
// MLIR forgets what a value is called once it has been parsed. Here its name becomes its location
// (NameLoc), which passes keep, and which printers, probes, traces and LLVM IR read it from.
#ifndef NB_COMPILER_VALUENAMES_H
#define NB_COMPILER_VALUENAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace mlir::nb {

/// Parses and verifies a program, text or bytecode; its values have their names in the text. Errors
/// go to the handler of `sources` or of the context. Null after a diagnostic.
OwningOpRef<ModuleOp> parseNamed(std::unique_ptr<llvm::MemoryBuffer> file, MLIRContext &context);

/// The same for what somebody else has parsed from `text`: names the values of `top` that have the
/// locations of their places there.
void nameFromText(Operation *top, llvm::StringRef text);

} // namespace mlir::nb

#endif
