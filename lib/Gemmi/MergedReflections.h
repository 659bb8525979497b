// Functions that lib/Formats declares, on lists of reflections, items of CIF and elements, with
// gemmi.
#ifndef NANOBRAGG_GEMMI_MERGEDREFLECTIONS_H
#define NANOBRAGG_GEMMI_MERGEDREFLECTIONS_H

#include "lib/Formats/MergedReflections.h"
#include "lib/Formats/StructureFactorFile.h"

namespace nanobragg::io {

AsymmetricIndices asymmetricIndicesOf(const std::string &spaceGroup,
                                      const std::vector<std::int32_t> &hkl);
std::vector<SymmetryOperation> operationsOf(const std::string &spaceGroup);
IndexingChoices choicesOfIndices(const std::string &spaceGroup, const std::array<double, 6> &cell,
                                 double obliquity);
std::string contentOfMtz(const MtzReflections &reflections);

/// As cifItems().
std::vector<CifItem> itemsOfCif(const std::string &path, const std::string &content);

/// As dispersionOf().
Dispersion cromerLiberman(const std::string &element, const std::vector<double> &energies);

} // namespace nanobragg::io
#endif
