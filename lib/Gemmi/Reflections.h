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

/// Lines of h k l F^2 sigma in columns of fixed width (HKLF 4; F and its sigma with HKLF 3), also
/// unmerged, up to the reflection 0 0 0. Cell and symmetry are those of the file NAME.ins or
/// NAME.res beside it. Equivalents are averaged by their sigmas, Friedel mates too where the group
/// has a centre of symmetry; F^2 become amplitudes as other intensities do. Throws FileError.
StructureFactors readShelx(const NameAndLabel &file, const std::string &content, double defaultF);

/// The cell in NAME.ins or NAME.res.
std::optional<std::array<double, 6>> cellOfShelx(const std::string &path);

} // namespace nanobragg::io
#endif
