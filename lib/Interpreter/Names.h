// Values as text.
#ifndef NB_INTERPRETER_NAMES_H
#define NB_INTERPRETER_NAMES_H

#include "lib/Interpreter/Frame.h"

namespace mlir::nb {

/// The name that the program gives a value; empty when it gives none.
std::string nameOf(Location location);

/// 15 digits; "nan" and "inf" are written so everywhere.
std::string toText(double value);
std::string toText(ArrayRef<double> values);
/// The value of one pixel, components separated by blanks.
std::string valueAt(Frame &frame, Slot slot, int64_t lane);

} // namespace mlir::nb

#endif
