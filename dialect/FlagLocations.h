// From an op to the flags of the experiment behind it.
//
// The location of an op carries the flags whose numbers are nearest among what it is computed from:
// %polarization has those of -polar, %hkl those of -cell and -misset. Passes keep locations, so
// that what any of them says of an op can say where in the command line to look.
#ifndef NB_FLAGLOCATIONS_H
#define NB_FLAGLOCATIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::nb {

/// Gives the ops of `top` their flags, by the `nb.name` of their function's arguments.
void locateFlags(Operation *top);

/// "-cell, -misset"; empty where there is none.
llvm::StringRef flagsAt(Location location);

} // namespace mlir::nb

#endif
