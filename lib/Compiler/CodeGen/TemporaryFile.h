// A file for another program.
#ifndef NB_COMPILER_TEMPORARYFILE_H
#define NB_COMPILER_TEMPORARYFILE_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// A file in the directory for temporary files, removed at the end of the scope. Errors say what to
/// do about them.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  TemporaryFile(TemporaryFile &&other) : path(std::move(other.path)) { other.path.clear(); }
  ~TemporaryFile();

  llvm::Error write(llvm::ArrayRef<char> bytes);
  llvm::Expected<llvm::SmallVector<char, 0>> read() const;
  const char *name() { return path.c_str(); }

private:
  explicit TemporaryFile(llvm::SmallString<128> path) : path(std::move(path)) {}

  llvm::SmallString<128> path; ///< empty: it is another one's
};

} // namespace mlir::nb

#endif
