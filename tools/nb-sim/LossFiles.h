// The files that --loss names.
#ifndef NANOBRAGG_NBSIM_LOSSFILES_H
#define NANOBRAGG_NBSIM_LOSSFILES_H

#include "lib/CommandLine/CommandLine.h"
#include "nanobragg/Loss.h"

#include <array>

namespace nanobragg {

/// The loss over images of this shape (panels, slow, fast). Images are those of nb-compare: NumPy
/// arrays, SMV images, whose ADC_OFFSET is subtracted, raw 32-bit floats. Throws io::FileError.
Loss readLoss(const LossOptions &options, const std::array<std::int64_t, 3> &shape);

} // namespace nanobragg
#endif
