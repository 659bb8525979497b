// The light on a detector with point spread.
#ifndef NANOBRAGG_NOISE_PHOTONS_H
#define NANOBRAGG_NOISE_PHOTONS_H

#include "lib/Experiment/Experiment.h"

namespace nanobragg {

/// Are there panels that do not have all pixels of the image?
bool hasSmallPanels(const Detector &detector);

/// Throws std::invalid_argument where no one program makes the image: it would need other pixels,
/// or another mask, before light is spread than after that.
void requireWholeProgram(const Experiment &experiment);

/// The experiment whose image is the photons that the given one spreads: without its response, in a
/// region with all light that reaches the other's, and on all pixels that exist. For a list of
/// pixels it has the whole detector.
Experiment photonsOf(Experiment experiment);

/// The experiment whose image is what the stages behind the spread make of Detector::light.
Experiment behindLight(Experiment experiment);

} // namespace nanobragg
#endif
