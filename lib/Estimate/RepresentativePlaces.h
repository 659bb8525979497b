// Some places of a detector, for what is estimated of all of it.
#ifndef NANOBRAGG_ESTIMATE_REPRESENTATIVEPLACES_H
#define NANOBRAGG_ESTIMATE_REPRESENTATIVEPLACES_H

#include "lib/Experiment/Experiment.h"
#include "lib/Experiment/Report.h"

#include <vector>

namespace nanobragg {

struct DetectorPlace {
  DetectorReport panel; ///< as it stands
  Vec3 position;        ///< m, from the sample
};
/// Eight of each panel, of seven panels at most, none of them in the beam.
std::vector<DetectorPlace> representativePlaces(const Experiment &experiment, const Report &report);

} // namespace nanobragg
#endif
