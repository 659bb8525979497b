// Gemmi's errors as ours.
#ifndef NANOBRAGG_GEMMI_GUARD_H
#define NANOBRAGG_GEMMI_GUARD_H

#include "lib/Files/FileError.h"

#include <exception>
#include <gemmi/unitcell.hpp>
#include <new>
#include <string>

namespace nanobragg::io {

/// Calls `read`; what gemmi throws becomes a FileError that names the file and what it was read as.
template <typename Read>
auto withGemmi(const std::string &path, const char *as, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const FileError &) {
    throw;
  } catch (const std::bad_alloc &) {
    throw FileError(path, std::string("needs more memory than there is to be read as ") + as +
                              "; check its header");
  } catch (const std::exception &error) {
    throw FileError(path, std::string("cannot be read as ") + as + " (" + error.what() +
                              "); check that it is complete");
  }
}

inline std::array<double, 6> numbersOf(const gemmi::UnitCell &cell) {
  return {cell.a, cell.b, cell.c, cell.alpha, cell.beta, cell.gamma};
}

/// Throws unless the cell is one.
inline void requireCell(const std::string &path, const gemmi::UnitCell &cell) {
  const bool good = cell.a > 1 && cell.b > 1 && cell.c > 1 && cell.alpha > 1 && cell.alpha < 179 &&
                    cell.beta > 1 && cell.beta < 179 && cell.gamma > 1 && cell.gamma < 179 &&
                    cell.volume > 1e-3 * cell.a * cell.b * cell.c && cell.a < 1e5 && cell.b < 1e5 &&
                    cell.c < 1e5;
  if (!good)
    throw FileError(path, "has no unit cell that could be one; give -cell, or mend the file");
}

} // namespace nanobragg::io
#endif
