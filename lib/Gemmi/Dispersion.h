// f' and f'' of the elements.
#ifndef NANOBRAGG_GEMMI_DISPERSION_H
#define NANOBRAGG_GEMMI_DISPERSION_H

#include "lib/Formats/StructureFactorFile.h"

namespace nanobragg::io {

/// As dispersionOf().
Dispersion cromerLiberman(const std::string &element, const std::vector<double> &energies);

} // namespace nanobragg::io
#endif
