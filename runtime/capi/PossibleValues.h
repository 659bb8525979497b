// What numbers can a parameter have?.
#ifndef NANOBRAGG_CAPI_POSSIBLEVALUES_H
#define NANOBRAGG_CAPI_POSSIBLEVALUES_H

#include "nanobragg/KernelABI.h"

#include <cstdint>
#include <string>

namespace nanobragg {

/// Throws std::invalid_argument that names the parameter when one of its numbers can be that of no
/// experiment: what is not finite (the attenuation depth may be infinite: no absorption), an edge
/// or a wavelength that is not above zero, an angle of the cell that is none, an axis without
/// direction.
void checkPossible(const std::string &name, nb_parameter_kind kind, const double *numbers,
                   std::int64_t count);

/// Throws std::invalid_argument when no cell with these angles (rad) has a volume.
void checkCellAngles(double alpha, double beta, double gamma);

} // namespace nanobragg
#endif
