// Near which Miller indices does a sample have light?
#ifndef NB_TRANSFORMS_CULLSUPPORT_H
#define NB_TRANSFORMS_CULLSUPPORT_H

#include "dialect/NB.h"

#include <array>
#include <optional>
#include <string>

namespace mlir::nb {

/// What may be left out of an image.
struct CullTolerance {
  /// Of the square of a lattice factor over that at its peak; 0: what is zero in floating point.
  double intensity = 0;
  /// The function has more results than its image: derivatives, whose terms carry further factors.
  bool derives = false;
};

/// A sample vanishes unless the quadratic form of the fraction of `hkl`, an nb.miller_index, is at
/// most 1.
struct Support {
  Value hkl;
  std::array<Value, 6> form; ///< of xx, yy, zz, xy, xz, yz: f64, made at the builder
};

/// The support of an op from which light comes: a lattice factor, or exp of a quadratic form of the
/// fraction of a Miller index, which derivatives make of one. `builder` stands ahead of `image`.
/// Null where the op is neither. `why` says in a few words why a lattice factor has no support.
std::optional<Support> supportOf(Operation *op, Operation *image, const CullTolerance &tolerance,
                                 OpBuilder &builder, std::string &why);

} // namespace mlir::nb

#endif
