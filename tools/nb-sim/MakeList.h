// Listed pixels instead of an image.
#ifndef NANOBRAGG_NBSIM_MAKELIST_H
#define NANOBRAGG_NBSIM_MAKELIST_H

#include "tools/nb-sim/Timing.h"
#include "tools/shared/RunSetup.h"

namespace nanobragg {

/// Renders the pixels of --pixels and writes one number for each into -floatfile: an array of NumPy
/// (.npy), lines `panel fast slow photons` (.txt), or 32-bit floats. Throws io::FileError.
void makeList(const RunSetup &setup, KernelProvider &kernels, const ProcessStart &start);

} // namespace nanobragg
#endif
