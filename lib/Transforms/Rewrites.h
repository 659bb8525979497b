// Rewrites that passes make wherever it pays, done at one place: for schedules.
#ifndef NB_TRANSFORMS_REWRITES_H
#define NB_TRANSFORMS_REWRITES_H

#include "dialect/NB.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <string>

namespace mlir::nb {

/// `sum over a x b x c` as `sum over a of sum over b x c`, and so on for each point, the number of
/// dimensions ahead of it. The sums, outer ones first; the old one is gone.
SmallVector<SumOp> splitSum(SumOp sum, ArrayRef<unsigned> points, FunctionOpInterface func);

/// A table of what `op`, inside of an image, computes, and lookups in place of its results, which
/// then has no user. Null, and why, where that cannot be.
TabulateOp tabulate(Operation *op, FunctionOpInterface func, std::string &why);

/// Does a lattice factor take this index, and not its fraction?
bool canPeel(Value hkl);
/// Lattice factors of `hkl` take its fraction, lookups its reflection.
void peelMillerIndex(Value hkl, FunctionOpInterface func);

/// The image that computes `lanes` pixels at once; the old one is gone. Null after a diagnostic.
/// One that has lanes is left alone.
ImageOp vectorizeImage(ImageOp image, int64_t lanes, int64_t rows = 1);

} // namespace mlir::nb

#endif
