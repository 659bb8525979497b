// Nb to nb passes.
#ifndef NB_TRANSFORMS_PASSES_H
#define NB_TRANSFORMS_PASSES_H

#include "lib/Program/Derivative.h"
#include "lib/Transforms/PrecisionOption.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::nb {

#define GEN_PASS_DECL
#include "lib/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Passes.h.inc"

} // namespace mlir::nb

#endif
