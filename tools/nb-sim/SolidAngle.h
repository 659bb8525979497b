// The solid angle of the rendered pixels.
#ifndef NANOBRAGG_NBSIM_SOLIDANGLE_H
#define NANOBRAGG_NBSIM_SOLIDANGLE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

namespace nanobragg {

/// Steradian: the sum over rendered pixels (in the region of interest and not masked) of the solid
/// angle of a pixel seen from the sample. With Rule::C the number that the C program prints: taken
/// where the kernel takes it, at the first sub-pixel or for a point, and divided by the C program's
/// number of steps. 0 threads are one for each processor.
double solidAngle(const Experiment &experiment, const Report &report, Rule rule, int threads);

} // namespace nanobragg
#endif
