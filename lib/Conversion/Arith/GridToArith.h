// Structure-factor lookups and their adjoints.
#ifndef NB_CONVERSION_GRIDTOARITH_H
#define NB_CONVERSION_GRIDTOARITH_H

#include "lib/Conversion/Arith/LoweredValues.h"

namespace mlir::nb {

Value lowerInGrid(InGridOp op, LoweredValues &values, Arithmetic &a);
/// Without branches. A nearest lookup with a default is, in lanes, one masked load: no clamps and
/// no select.
Value lowerStructureFactor(StructureFactorOp op, LoweredValues &values, Arithmetic &a);

/// The number of values of the grid that an argument was split into.
Value gridEntries(OpBuilder &b, Location loc, ValueRange parts);
/// Adds what the op scatters to the values of a grid in `buffer`, for each lane that is `active`
/// (null: all). `concurrent`: other pixels add to them at the same time.
void addToGrid(ScatterFactorOp op, OpBuilder &b, Value buffer, Value active, bool concurrent);

} // namespace mlir::nb

#endif
