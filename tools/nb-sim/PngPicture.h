// --png: a picture of an image.
#ifndef NANOBRAGG_NBSIM_PNGPICTURE_H
#define NANOBRAGG_NBSIM_PNGPICTURE_H

#include "lib/Choose/Defaults.h"
#include "lib/Files/OutputFile.h"

#include <span>

namespace nanobragg {

/// On a logarithmic scale, spots dark; several panels as they stand in space. `rings`: with
/// resolutions and a scale bar. Throws io::FileError.
void writePicture(io::OutputFile &out, std::span<const float> image,
                  const CompleteExperiment &complete, bool rings);

} // namespace nanobragg
#endif
