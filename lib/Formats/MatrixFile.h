// A MOSFLM orientation matrix.
#ifndef NANOBRAGG_FORMATS_MATRIXFILE_H
#define NANOBRAGG_FORMATS_MATRIXFILE_H

#include "lib/Experiment/Experiment.h"

#include <string>

namespace nanobragg::io {

/// The first nine numbers: rows x, y, z and columns a*, b*, c*, in units of wavelength/A as the
/// file has them. Further numbers (MOSFLM adds misset angles, the cell, ...) are ignored.
Mat3 readMatrix(const std::string &path);

} // namespace nanobragg::io
#endif
