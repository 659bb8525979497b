// The single numbers of a parameter.
#ifndef NANOBRAGG_PROGRAM_PARAMETERELEMENTS_H
#define NANOBRAGG_PROGRAM_PARAMETERELEMENTS_H

#include "lib/Program/Parameters.h"

#include <cstddef>
#include <string>

namespace nanobragg {

/// How many doubles a differentiable parameter has in this experiment: 1, 3, 9, or those of a
/// table or grid.
std::size_t elementCount(const Experiment &experiment, const Parameter &parameter);

/// One of them, which may be changed. The grid must belong to this experiment alone, see ownGrid.
double &element(Experiment &experiment, const Parameter &parameter, std::size_t index);
double element(const Experiment &experiment, const Parameter &parameter, std::size_t index);

/// Gives the experiment structure-factor grids of its own in place of those that others have too,
/// for changes that these must not see. Returns whether there were any.
bool ownGrid(Experiment &experiment);

/// "cell_a", "source_direction[2].y", "reciprocal_matrix[0][1]", "F(1,-2,3)".
std::string elementName(const Experiment &experiment, const Parameter &parameter,
                        std::size_t index);

} // namespace nanobragg
#endif
