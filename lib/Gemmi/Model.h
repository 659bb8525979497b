// Structure factors of a model.
#ifndef NANOBRAGG_GEMMI_MODEL_H
#define NANOBRAGG_GEMMI_MODEL_H

#include "lib/Formats/StructureFactorFile.h"

namespace nanobragg::io {

/// As calculateStructureFactors(). Electron density of all atoms on a grid, its Fourier transform,
/// and the same of f'' alone: F(h) = A + iB and F(-h)* = A - iB with A, B the transforms of the
/// two. Scattering factors are those of the International Tables (1992), f' and f'' Cromer and
/// Liberman's; the solvent is a flat mask times k exp(-B s^2 / 4).
StructureFactors factorsOfModel(const std::string &path, const std::string &content,
                                StructureFactorFormat format, const ModelOptions &options,
                                const std::optional<std::array<double, 6>> &cell);

std::optional<std::array<double, 6>>
cellOfModel(const std::string &path, const std::string &content, StructureFactorFormat format);

/// As atomsOfModel(). All images of each atom count, as they do in the density.
AtomsOfModel atomsIn(const std::string &path, const std::string &content,
                     StructureFactorFormat format,
                     const std::optional<std::array<double, 6>> &cell);

} // namespace nanobragg::io
#endif
