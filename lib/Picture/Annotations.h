// Resolution rings and a scale bar.
#ifndef NANOBRAGG_PICTURE_ANNOTATIONS_H
#define NANOBRAGG_PICTURE_ANNOTATIONS_H

#include "lib/Picture/Layout.h"

#include <vector>

namespace nanobragg {

/// Resolutions (A, falling) for about four rings within a picture, in numbers that are easy to
/// read.
std::vector<double> chooseRings(const Layout &layout, const CompleteExperiment &complete);

/// Draws rings where d = wavelength / (2 sin(theta)) has these values, each with its number, and a
/// bar of so and so many mm in the lower left corner.
void annotate(Picture &picture, const Layout &layout, const CompleteExperiment &complete,
              const std::vector<double> &rings);

} // namespace nanobragg
#endif
