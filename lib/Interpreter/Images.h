// Memory of whole images.
#ifndef NB_INTERPRETER_IMAGES_H
#define NB_INTERPRETER_IMAGES_H

#include "lib/Interpreter/Frame.h"

namespace mlir::nb {

/// A new image of zeros for the value at `slot`; `ordinal` is the planner's count of such. The
/// function's first image goes to the caller's memory if he gave some, but never that of a trace.
Tensor &makeImage(Frame &root, unsigned ordinal, Slot slot, Type element, ArrayRef<int64_t> shape);

} // namespace mlir::nb

#endif
