// Derivatives that are zero for a reason.
#ifndef NANOBRAGG_PROGRAM_DEADGRADIENTS_H
#define NANOBRAGG_PROGRAM_DEADGRADIENTS_H

#include "lib/Experiment/Experiment.h"
#include "nanobragg/DeadGradient.h"

#include <span>
#include <string>
#include <vector>

namespace nanobragg {

/// Those among `parameters` of which it can be told without computing anything.
std::vector<DeadGradient> deadGradients(const Experiment &experiment,
                                        std::span<const std::string> parameters);

} // namespace nanobragg
#endif
