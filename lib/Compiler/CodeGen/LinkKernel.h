// An object to a shared object.
#ifndef NB_COMPILER_LINKKERNEL_H
#define NB_COMPILER_LINKKERNEL_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::nb {

/// Links one relocatable ELF object into a shared object that depends on no library; what it calls
/// (memset at most) is the C library's, which every process has. In this process, by lld.
llvm::Expected<llvm::SmallVector<char, 0>> linkSharedObject(llvm::ArrayRef<char> object);

} // namespace mlir::nb

#endif
