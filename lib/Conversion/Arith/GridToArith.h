// Structure-factor lookups and their adjoints.
#ifndef NB_CONVERSION_GRIDTOARITH_H
#define NB_CONVERSION_GRIDTOARITH_H

#include "lib/Conversion/Arith/LoweredValues.h"

namespace mlir::nb {

Value lowerInGrid(InGridOp op, LoweredValues &values, Arithmetic &a);
/// With a default, the branch-free form with selects that nb-remove-branches would leave.
Value lowerStructureFactor(StructureFactorOp op, LoweredValues &values, Arithmetic &a);
/// Makes nearest lookups that are selected by nb.in_grid lookups with a default again: in lanes that
/// is one masked load, without clamps and select.
void restoreLookupDefaults(Operation *root);

/// The number of values of the grid that an argument was split into.
Value gridEntries(OpBuilder &b, Location loc, ValueRange parts);
/// Adds what the op scatters to the values of a grid in `buffer`, for each lane that is `active`
/// (null: all).
void addToGrid(ScatterFactorOp op, OpBuilder &b, Value buffer, Value active);

} // namespace mlir::nb

#endif
