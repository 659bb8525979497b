// Reflections of an asymmetric unit.
#ifndef NANOBRAGG_FORMATS_MERGEDREFLECTIONS_H
#define NANOBRAGG_FORMATS_MERGEDREFLECTIONS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nanobragg::io {

/// Where reflections have their equivalent in the asymmetric unit that CCP4 uses.
struct AsymmetricIndices {
  std::string spaceGroup;         ///< Hermann-Mauguin
  std::vector<std::int32_t> hkl;  ///< indices of the equivalents, three for each reflection
  std::vector<std::uint8_t> mate; ///< 1: the equivalent's Friedel mate is meant
  std::vector<std::uint8_t> centric, absent;
};

/// `hkl`: three for each reflection. The space group is named by its Hermann-Mauguin
/// ("P 43 21 2") or Hall symbol (" P 4nw 2abw"). Throws FileError naming what was given when there
/// is none of this name.
AsymmetricIndices toAsymmetricUnit(const std::string &spaceGroup,
                                   const std::vector<std::int32_t> &hkl);

/// x becomes rotation x + translation, in fractions of the cell's edges.
struct SymmetryOperation {
  std::array<double, 9> rotation; ///< row-major
  std::array<double, 3> translation;
};

/// All operations of a space group, of centring, too. Named and refused as above.
std::vector<SymmetryOperation> operationsOfSpaceGroup(const std::string &spaceGroup);

/// Choices of Miller indices that a lattice allows beside the given one. Choices that the Laue
/// group makes equivalent are listed once.
struct IndexingChoices {
  std::string hallSymbol;                       ///< names the space group
  std::vector<std::array<double, 9>> rotations; ///< row-major; rows h k l are multiplied by them
};

/// `cell`: A and degrees. `obliquity`: degrees by which the lattice may fall short of a symmetry.
/// The space group is named and refused as above.
IndexingChoices indexingChoices(const std::string &spaceGroup, const std::array<double, 6> &cell,
                                double obliquity);

struct MtzColumn {
  std::string label;
  char type; ///< CCP4's: F amplitude, Q sigma, I whole number ...
};

/// A crystal on an image, in an unmerged MTZ file.
struct MtzBatch {
  std::array<double, 6> cell; ///< A and degrees
  double wavelength;          ///< A
};

/// The content of an MTZ file. Numbers that are not finite are missing ones.
struct MtzReflections {
  std::string spaceGroup;     ///< as for toAsymmetricUnit
  std::array<double, 6> cell; ///< A and degrees
  double wavelength;          ///< A
  std::vector<MtzColumn> columns;
  std::vector<float> rows; ///< h, k, l and then the columns, of one reflection after another
  /// An unmerged file has these, numbered from 1. Its first columns are M/ISYM, which is made from
  /// measured indices, and BATCH.
  std::vector<MtzBatch> batches;
};

/// The content of the file. Throws FileError.
std::string mtzOf(const MtzReflections &reflections);

} // namespace nanobragg::io
#endif
