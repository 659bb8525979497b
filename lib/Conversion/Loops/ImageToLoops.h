// An image as loops over pixels.
#ifndef NB_CONVERSION_IMAGETOLOOPS_H
#define NB_CONVERSION_IMAGETOLOOPS_H

#include "lib/Conversion/Loops/Accumulation.h"
#include "lib/Conversion/Loops/LitLoops.h"

namespace mlir::nb {

/// Replaces the image by loops over panels, rows and pixels, its results by what they write. Sums
/// in its body are still to be lowered; `sums` knows where those of tables and grids go. With
/// `warp` above 0, pixels are computed at the same time, by a GPU with such warps.
LogicalResult lowerImage(ImageOp image, Accumulation &sums, LitLoops &lit, int64_t warp);

/// Does the function render an image, before or after its loops were lowered?
bool isKernel(Operation *function);

/// Replaces what uses the table or grid by what uses the buffer that holds it: lookups become
/// loads, a kernel may return it.
LogicalResult replaceByBuffer(Value tableOrGrid, Value buffer, ValueRange counts);

} // namespace mlir::nb

#endif
