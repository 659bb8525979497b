// The debug information of kernel files.
#ifndef NB_COMPILER_READLINES_H
#define NB_COMPILER_READLINES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::nb {

struct KernelLines {
  std::string text;                 ///< the nb program; empty: there is no debug information
  std::vector<std::uint32_t> lines; ///< for each address; 0: none
};

/// The program that the kernel in a shared object was made of, and its lines at addresses, which
/// count from where the object is loaded.
llvm::Expected<KernelLines> readLines(llvm::ArrayRef<char> object,
                                      llvm::ArrayRef<std::uint64_t> addresses);

} // namespace mlir::nb

#endif
