// The flag and the quantity that a parameter comes from.
#ifndef NANOBRAGG_PROGRAM_FLAGOF_H
#define NANOBRAGG_PROGRAM_FLAGOF_H

#include "lib/Quantities/Quantity.h"

#include <cstddef>
#include <string_view>

namespace nanobragg {

/// The flag of nb-sim that gives a parameter its value, the first where several do: "-cell" of
/// "cell_b". Empty where no flag does so by itself.
std::string_view flagOf(std::string_view parameter);

struct PlaceInQuantity {
  const Quantity *row = nullptr; ///< null: no quantity has such numbers
  std::size_t index = 0;         ///< The parameter's first number is this one of the quantity.
};

/// The quantity whose numbers a parameter has, or the like of which it has from a file.
PlaceInQuantity quantityOfParameter(std::string_view parameter);

} // namespace nanobragg
#endif
