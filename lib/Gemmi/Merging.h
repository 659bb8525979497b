// Reflections of a list, each once and in the asymmetric unit.
#ifndef NANOBRAGG_GEMMI_MERGING_H
#define NANOBRAGG_GEMMI_MERGING_H

#include "lib/Gemmi/Expansion.h"

#include <gemmi/merge.hpp>
#include <gemmi/symmetry.hpp>
#include <string>
#include <vector>

namespace nanobragg::io {

/// Values of reflections as a file lists them, also more than once and by any equivalent.
class ListedReflections {
public:
  ListedReflections(const std::string &path, const gemmi::SpaceGroup &group, bool intensities);

  /// Takes h k l and its mate apart, where `mates`, else the value of h k l alone. Nothing where no
  /// number was measured: of intensities what has no sigma above 0. Throws FileError for an index
  /// that cannot be.
  void add(const UniqueReflection &reflection, bool mates);

  /// Equivalents become their mean, of intensities by their sigmas; Friedel mates stay apart unless
  /// the group has a centre of symmetry. One of a pair that is not listed is as its mate.
  std::vector<UniqueReflection> merged();

  /// After merged(): a sentence where equivalents had different values, else nothing.
  std::vector<std::string> warnings() const;

private:
  const std::string &path;
  gemmi::Intensities measured;
  bool intensities;
  std::size_t differing = 0; ///< values that are not those of an equivalent listed before
};

/// Throws where indices are repeated: complex factors have no mean that is of any use.
void refuseRepeated(const std::string &path, const std::vector<UniqueReflection> &reflections);

} // namespace nanobragg::io
#endif
