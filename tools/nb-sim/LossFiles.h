// The files that --loss names.
#ifndef NANOBRAGG_NBSIM_LOSSFILES_H
#define NANOBRAGG_NBSIM_LOSSFILES_H

#include "lib/CommandLine/CommandLine.h"
#include "nanobragg/Loss.h"

#include "tools/shared/RunSetup.h"

namespace nanobragg {

/// The loss of --loss over the detector's images. Images are those of nb-compare: NumPy
/// arrays, SMV images, whose ADC_OFFSET is subtracted, raw 32-bit floats. With --pixels, the pixels
/// of the list are taken out of them, and an array of NumPy of one dimension has one number for
/// each pixel of the list. Throws io::FileError.
Loss readLoss(const RunSetup &setup);

} // namespace nanobragg
#endif
