// Background structure factors.
#ifndef NANOBRAGG_IO_STOLFILE_H
#define NANOBRAGG_IO_STOLFILE_H

#include <string>
#include <vector>

namespace nanobragg::io {

struct StolPoint {
  double stol; ///< in the unit of the file: sin(theta)/lambda, 4 sin(theta)/lambda or Q
  double f;    ///< electrons
};

/// Two columns, separated and commented as in a source file; the first ascends.
std::vector<StolPoint> readStol(const std::string &path);

} // namespace nanobragg::io
#endif
