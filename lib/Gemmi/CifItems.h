// Any CIF, as items and values.
#ifndef NANOBRAGG_GEMMI_CIFITEMS_H
#define NANOBRAGG_GEMMI_CIFITEMS_H

#include "lib/Formats/StructureFactorFile.h"

namespace nanobragg::io {

/// As cifItems().
std::vector<CifItem> itemsOfCif(const std::string &path, const std::string &content);

} // namespace nanobragg::io
#endif
