// Background structure factors.
#ifndef NANOBRAGG_FORMATS_STOLFILE_H
#define NANOBRAGG_FORMATS_STOLFILE_H

#include <cstddef>
#include <string>
#include <vector>

namespace nanobragg::io {

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

} // namespace nanobragg::io
#endif
