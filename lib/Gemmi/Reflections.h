// Reflection files that gemmi reads.
#ifndef NANOBRAGG_GEMMI_REFLECTIONS_H
#define NANOBRAGG_GEMMI_REFLECTIONS_H

#include "lib/Formats/StructureFactorFile.h"

namespace nanobragg::io {

// As readReflections().
StructureFactors readMtz(const NameAndLabel &file, const std::string &content, double defaultF,
                         bool phases = false);
StructureFactors readCifReflections(const NameAndLabel &file, const std::string &content,
                                    double defaultF, bool phases = false);

std::optional<std::array<double, 6>> cellOfMtz(const std::string &path, const std::string &content);
std::optional<std::array<double, 6>> cellOfCifReflections(const std::string &path,
                                                          const std::string &content);

} // namespace nanobragg::io
#endif
