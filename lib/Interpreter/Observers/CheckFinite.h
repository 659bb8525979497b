// The first op that yields NaN or infinity.
#ifndef NB_INTERPRETER_CHECKFINITE_H
#define NB_INTERPRETER_CHECKFINITE_H

#include "lib/Interpreter/Run.h"

namespace mlir::nb {

/// Fails a frame at the first op that yields NaN or infinity, with pixel, loop indices and
/// operands. Constants may be infinite.
std::unique_ptr<Observer> makeFiniteCheck(const Plan &plan);

} // namespace mlir::nb

#endif
