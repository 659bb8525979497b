// Programs and patterns as text.
#ifndef NB_TRANSFORMS_OPENTEXT_H
#define NB_TRANSFORMS_OPENTEXT_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::nb {

/// MLIR's parser calls itself for each level; no program that means something has as many.
constexpr int deepestText = 500;
/// Brackets of any kind and signs within each other, at most, outside of strings and comments.
int textDepth(StringRef text);

/// mlir::openInputFile for files, pipes and "-", of text that MLIR's parser can take; a device such
/// as /dev/zero never ends.
std::unique_ptr<llvm::MemoryBuffer> openText(StringRef file, std::string *why);

/// Some malformed ops of other dialects crash MLIR's readers and verifiers. So a copy of this
/// process reads first what `context` is to read. Empty if that ends in order; else what to say of
/// the text: "makes MLIR's own reader crash (...)".
std::string crashOfReading(llvm::MemoryBufferRef text, MLIRContext &context);

} // namespace mlir::nb
#endif
