// Whether leaving samples out pays.
#ifndef NANOBRAGG_CULLING_ESTIMATE_H
#define NANOBRAGG_CULLING_ESTIMATE_H

#include "lib/Experiment/Experiment.h"
#include "lib/Program/Derivative.h"
#include "nanobragg/CullSetting.h"
#include "nanobragg/Precision.h"

#include <optional>

namespace nanobragg {

/// The setting of a program of the experiment where `wanted` is asked for; unset: exact. It is off
/// where so many samples have light that looking for them costs more than it saves: an estimate
/// from the crystal's size and the detector, see docs/culling-methods.md. Pixels are of
/// type `pixels`, whatever the variant says.
CullSetting cullFor(std::optional<CullSetting> wanted, const Experiment &experiment,
                    Precision precision, ImageType pixels, const Derivative &derivative = {});

} // namespace nanobragg
#endif
