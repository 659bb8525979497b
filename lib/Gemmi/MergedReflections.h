// The functions that lib/Formats/MergedReflections.h declares, with gemmi.
#ifndef NANOBRAGG_GEMMI_MERGEDREFLECTIONS_H
#define NANOBRAGG_GEMMI_MERGEDREFLECTIONS_H

#include "lib/Formats/MergedReflections.h"

namespace nanobragg::io {

AsymmetricIndices asymmetricIndicesOf(const std::string &spaceGroup,
                                      const std::vector<std::int32_t> &hkl);
std::vector<SymmetryOperation> operationsOf(const std::string &spaceGroup);
IndexingChoices choicesOfIndices(const std::string &spaceGroup, const std::array<double, 6> &cell,
                                 double obliquity);
std::string contentOfMtz(const MtzReflections &reflections);

} // namespace nanobragg::io
#endif
