// Values that are in all likelihood in another unit than the one that was asked for.
#ifndef NANOBRAGG_QUANTITIES_LIKELYUNITS_H
#define NANOBRAGG_QUANTITIES_LIKELYUNITS_H

#include "lib/Quantities/Quantity.h"

#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

struct UnitSlip {
  std::string sentence; ///< without the quantity's name
  bool certain;         ///< only a forgotten unit explains the value
};

/// A number (in SI) that no experiment has, or in SI one that is unusual and that a common unit
/// makes a usual one: "0.28 mm is beyond any experiment; values from 1 to 50000 mm are allowed;
/// 0.28 m would be -distance 280"; in Python "...; numbers are in SI units: 0.98 * nb.angstrom".
/// `index`: of the number within the quantity.
std::optional<UnitSlip> slipOfUnits(const Quantity &row, double inSI, std::size_t index,
                                    Caller caller);

/// One sentence for each value that may lack its unit, but is not refused.
std::vector<std::string> doubtfulUnits(const Options &options, Caller caller);

} // namespace nanobragg
#endif
