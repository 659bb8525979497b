//===- GridToArith.h - structure-factor lookups ----------------*- C++ -*-===//
#ifndef NB_CONVERSION_GRIDTOARITH_H
#define NB_CONVERSION_GRIDTOARITH_H

#include "lib/Conversion/Expansion.h"

namespace mlir::nb {

Value expandInGrid(InGridOp op, Expansion &values, Arithmetic &a);
/// With a default, the branch-free form with selects that nb-remove-branches would leave.
Value expandStructureFactor(StructureFactorOp op, Expansion &values, Arithmetic &a);

} // namespace mlir::nb

#endif
