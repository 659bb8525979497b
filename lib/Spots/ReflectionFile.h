// Tables of reflections in closed form, as files.
#ifndef NANOBRAGG_SPOTS_REFLECTIONFILE_H
#define NANOBRAGG_SPOTS_REFLECTIONFILE_H

#include "lib/Files/OutputFile.h"
#include "lib/Formats/DialsExperiment.h"
#include "lib/Spots/Spot.h"
#include "nanobragg/Reflections.h"

#include <vector>

namespace nanobragg {

/// The name's ending says the format; throws std::invalid_argument for another one.
enum class ReflectionFormat { Dials, Npz, Csv };
ReflectionFormat reflectionFormatOf(const std::string &name);

/// The columns in users' units: .npz has miller_index (n, 3) and covariance (n, 2, 2), .csv a
/// column for each number, .refl those of writeReflectionTable as well. `model`: the image, its
/// crystal static, for the rays of a .refl.
void writeReflections(io::OutputFile &out, ReflectionFormat format, const ReflectionTable &table,
                      const io::DialsExperiment &model);

/// A spot for each row: its mean place and direction, wavelength, photons, and a box of three
/// standard deviations. `model`: as above.
std::vector<Spot> spotsOf(const ReflectionTable &table, const io::DialsExperiment &model);

} // namespace nanobragg
#endif
