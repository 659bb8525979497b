// Values that are in all likelihood in another unit than the one their flag has.
#ifndef NANOBRAGG_CHOOSE_LIKELYUNITS_H
#define NANOBRAGG_CHOOSE_LIKELYUNITS_H

#include "lib/Quantities/Quantity.h"

#include <string>
#include <vector>

namespace nanobragg {

/// One sentence for each value that no experiment has, with the value that is meant if a common
/// unit makes it a usual one: "-distance 0.28: 0.28 mm is far from usual; 0.28 m would be -distance
/// 280"; in Python "Detector.distance is 280 m, ...; was 280 * nb.millimeter meant?". Such a slip
/// gives an image without a photon, not an error.
std::vector<std::string> doubtfulUnits(const Options &options, Caller caller = Caller::CommandLine);

} // namespace nanobragg
#endif
