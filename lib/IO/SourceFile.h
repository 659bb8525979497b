// A list of X-ray sources.
#ifndef NANOBRAGG_IO_SOURCEFILE_H
#define NANOBRAGG_IO_SOURCEFILE_H

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg::io {

/// One line. What the line does not reach is absent; the caller knows the defaults.
struct SourceLine {
  std::array<std::optional<double>, 3> position; ///< where the source is, any scale
  std::optional<double> weight;                  ///< relative, not negative
  std::optional<double> wavelength;              ///< m
};

/// Columns `x y z weight wavelength` separated by blanks, tabs or any of `,;:!`; further columns,
/// blank lines and everything from a `#` on are ignored. At least one source.
std::vector<SourceLine> readSources(const std::string &path);

} // namespace nanobragg::io
#endif
