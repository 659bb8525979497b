// A list of X-ray sources.
#ifndef NANOBRAGG_FORMATS_SOURCEFILE_H
#define NANOBRAGG_FORMATS_SOURCEFILE_H

#include "lib/Experiment/ProgramVariant.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg::io {

/// One line. Columns that the line does not reach are absent; the caller knows the defaults.
struct SourceLine {
  std::array<std::optional<double>, 3> position; ///< where the source is, any scale
  std::optional<double> weight;                  ///< relative, not negative
  std::optional<double> wavelength;              ///< m
};

/// Columns `x y z [weight [wavelength]]` separated by blanks, tabs or any of `,;:!`; blank lines
/// and everything from a `#` on are ignored. At least one source. Rule::C takes lines of any number
/// of columns, as the C program does: what is missing is absent, what is too much is ignored.
std::vector<SourceLine> readSources(const std::string &path, Rule columns = Rule::Right);

} // namespace nanobragg::io
#endif
