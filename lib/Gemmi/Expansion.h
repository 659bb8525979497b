// Space groups: their operations as text, and from the reflections of an asymmetric unit to all of
// the P1 cell.
#ifndef NANOBRAGG_GEMMI_EXPANSION_H
#define NANOBRAGG_GEMMI_EXPANSION_H

#include "lib/Formats/StructureFactorFile.h"

#include <cstdint>
#include <gemmi/symmetry.hpp>
#include <string>
#include <vector>

namespace nanobragg::io {

/// F of h k l, and of its Friedel mate; equal without anomalous signal.
struct UniqueReflection {
  std::array<std::int32_t, 3> hkl;
  float plus, minus;
  float phase = 0;               ///< degrees, of expandPhases()
  std::array<float, 2> sigmas{}; ///< sigmas of plus and minus, where these are intensities

  /// One of a pair that was not measured is taken to be as its mate; false where neither was.
  /// intensities: what has no sigma above 0 was not measured.
  bool complete(bool intensities);
};

/// Throws FileError for indices that no reflection has.
void requireIndices(const std::string &path, const std::array<std::int32_t, 3> &hkl);

/// Applies all operations of the space group and adds the mates. The cell stays the conventional
/// one: where the group is centred the nodes that it extinguishes are 0, also where `defaultF` is
/// not, so that numbers of cells count conventional cells. Sets all of the result but its cell and
/// its notes. Throws FileError where the box does not fit.
void expandToP1(const std::string &path, const std::vector<UniqueReflection> &unique,
                const gemmi::SpaceGroup &group, double defaultF, StructureFactors &result);

/// The complex factors, after expandToP1() with the same arguments: F(h R) = F(h) exp(-2 pi i h t)
/// for each operation R x + t, and of the Friedel mate the conjugate. A reflection that is not
/// listed has the factor that `result` has for it.
void expandPhases(const std::vector<UniqueReflection> &unique, const gemmi::SpaceGroup &group,
                  StructureFactors &result);

/// "-X, 0.5+Y, 1/2-Z"; gemmi takes neither upper case nor decimal fractions. Throws
/// std::runtime_error.
gemmi::Op operationOf(const std::string &text);

} // namespace nanobragg::io
#endif
