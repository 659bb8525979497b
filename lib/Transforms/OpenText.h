// Programs and patterns as text.
#ifndef NB_TRANSFORMS_OPENTEXT_H
#define NB_TRANSFORMS_OPENTEXT_H

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mlir::nb {

/// mlir::openInputFile for files, pipes and "-"; a device such as /dev/zero never ends.
inline std::unique_ptr<llvm::MemoryBuffer> openText(StringRef file, std::string *why) {
  llvm::sys::fs::file_status status;
  if (file != "-" && !llvm::sys::fs::status(file, status) &&
      status.type() == llvm::sys::fs::file_type::character_file) {
    *why = ("cannot open input file '" + file + "': it is a device; give the name of a file").str();
    return nullptr;
  }
  return openInputFile(file, why);
}

} // namespace mlir::nb
#endif
