// A series of images and its files.
#ifndef NANOBRAGG_NBSIM_MAKESERIES_H
#define NANOBRAGG_NBSIM_MAKESERIES_H

#include "lib/MPI/Ranks.h"
#include "runtime/kernels/KernelProvider.h"
#include "tools/nb-sim/Timing.h"
#include "tools/shared/RunSetup.h"

namespace nanobragg {

/// Renders one frame after the other, while threads draw the noise of earlier ones, compress and
/// write them. The files are those that a run for each frame alone would write. Every error is an
/// exception; frames that are finished stay. With `ranks`, and with --shard, this process makes its
/// part of the series; the results are bit by bit those of one process.
void makeSeries(RunSetup &setup, KernelProvider &kernels, const ProcessStart &start,
                Ranks *ranks = nullptr);

} // namespace nanobragg
#endif
