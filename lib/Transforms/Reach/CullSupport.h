// Near which Miller indices does a sample have light?
#ifndef NB_TRANSFORMS_CULLSUPPORT_H
#define NB_TRANSFORMS_CULLSUPPORT_H

#include "dialect/NB.h"
#include "lib/Culling/Bounds.h"

#include <array>
#include <optional>
#include <string>

namespace mlir::nb {

/// A sample vanishes unless the quadratic form of the fraction x of `hkl`, an nb.miller_index, is
/// at most 1; or, of a grating, the product over the axes of max(1, cells |sin(pi x)|) at most
/// `grating`.
struct Support {
  Value hkl;
  std::array<Value, 6> form; ///< factors of xx, yy, zz, xy, xz, yz: f64, made at the builder
  double grating = 0;        ///< 0: the form decides
  std::array<Value, 3> cells;
};

/// The support of an op from which light comes: a lattice factor, or what derivatives make of one:
/// nb.grating, and of a quadratic form of the fraction of a Miller index exp, nb.ball or a choice
/// by where it ends. `builder` stands ahead of `image`. Null where the op is neither. `why` says in
/// a few words why a lattice factor has no support.
std::optional<Support> supportOf(Operation *op, Operation *image,
                                 const nanobragg::CulledProgram &program, OpBuilder &builder,
                                 std::string &why);

} // namespace mlir::nb

#endif
