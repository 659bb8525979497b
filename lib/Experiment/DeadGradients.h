//===- DeadGradients.h - derivatives that are zero for a reason -*- C++ -*-===//
#ifndef NANOBRAGG_EXPERIMENT_DEADGRADIENTS_H
#define NANOBRAGG_EXPERIMENT_DEADGRADIENTS_H

#include "Experiment.h"

#include <span>
#include <string>
#include <vector>

namespace nanobragg {

/// A parameter that this experiment's image does not depend on, to first order.
struct DeadGradient {
  std::string parameter;
  std::string why; ///< a clause: "there is one mosaic domain, which is not rotated"
};

/// Those among `parameters` of which it can be told without computing anything.
std::vector<DeadGradient> deadGradients(const Experiment &experiment,
                                        std::span<const std::string> parameters);

} // namespace nanobragg
#endif
