// Nb to arith, scf, memref, llvm.
#ifndef NB_CONVERSION_PASSES_H
#define NB_CONVERSION_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::nb {

#define GEN_PASS_DECL
#include "lib/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Conversion/Passes.h.inc"

} // namespace mlir::nb

#endif
