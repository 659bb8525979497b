// Stages after an image become part of its body.
#ifndef NB_TRANSFORMS_FUSERESPONSE_H
#define NB_TRANSFORMS_FUSERESPONSE_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::nb {

/// Writes each pointwise stage of an image that the function computes into the body of that image.
/// A stage that cannot be is left alone and reported in a remark. Returns how many were written.
unsigned fuseResponse(FunctionOpInterface func);

} // namespace mlir::nb

#endif
