// Where the pixels of a curved panel stand, as far as the image's ops tell.
#ifndef NB_TRANSFORMS_CURVEDPIXEL_H
#define NB_TRANSFORMS_CURVEDPIXEL_H

#include "dialect/NB.h"

#include <optional>

namespace mlir::nb {

/// Is `value` made, inside the image, of anything but pure ops and what is allowed?
bool dependsOnMore(Value value, ImageOp image, ValueRange allowed);

/// A point of an nb.curved_position whose two angles are sums of a constant of the panel and
/// multiples of the point's coordinates.
struct CurvedPixel {
  CurvedPositionOp point;
  DetectorCoordinateOp fast, slow; ///< coordinates of the image's pixel
  Value depth;                     ///< inside a flat panel; null: the angles do not depend on any
};

/// The pixel that a diffracted ray of this direction goes to; none where it is not on such a
/// detector.
std::optional<CurvedPixel> curvedPixelOf(Value direction, ImageOp image);

} // namespace mlir::nb

#endif
