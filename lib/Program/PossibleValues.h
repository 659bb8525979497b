// Which numbers a parameter can have.
#ifndef NANOBRAGG_PROGRAM_POSSIBLEVALUES_H
#define NANOBRAGG_PROGRAM_POSSIBLEVALUES_H

#include "lib/Quantities/Quantity.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nanobragg {

/// Throws std::invalid_argument that names the parameter when one of its numbers can be that of no
/// experiment, as Parameter::possible and the range of the quantity say it. For a name that is not
/// a parameter's all finite numbers are possible.
void checkPossible(const std::string &name, const double *numbers, std::int64_t count);

/// Throws std::invalid_argument when only a forgotten unit explains one of these numbers of a
/// parameter, which are in SI. A sentence about one that may lack its unit; none: all are usual.
/// `name`: that the caller knows it by.
std::optional<std::string> checkUnits(const std::string &parameter, const std::string &name,
                                      std::span<const double> numbers, Caller caller);

/// Throws std::invalid_argument when no cell with these angles (rad) has a volume.
void checkCellAngles(double alpha, double beta, double gamma);

} // namespace nanobragg
#endif
