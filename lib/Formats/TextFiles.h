// Small tables of the C program as text: sources, amorphous scattering, the orientation matrix.
#ifndef NANOBRAGG_FORMATS_TEXTFILES_H
#define NANOBRAGG_FORMATS_TEXTFILES_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/ProgramVariant.h"

#include <array>
#include <cstddef>
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

struct StolPoint {
  double stol; ///< in the unit of the file: sin(theta)/lambda, 4 sin(theta)/lambda or Q
  double f;    ///< electrons
};

struct StolTable {
  std::vector<StolPoint> points; ///< by ascending stol
  std::size_t unsorted = 0;      ///< first line of the file below the one before; 0: none
};

/// Two columns, separated and commented as in a source file. Throws FileError, also where two lines
/// are of the same stol.
StolTable readStol(const std::string &path);

/// The first nine numbers: rows x, y, z and columns a*, b*, c*, in units of wavelength/A as the
/// file has them. Further numbers (MOSFLM adds misset angles, the cell, ...) are ignored.
Mat3 readMatrix(const std::string &path);

} // namespace nanobragg::io
#endif
