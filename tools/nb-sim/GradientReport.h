// What --grad prints.
#ifndef NANOBRAGG_NBSIM_GRADIENTREPORT_H
#define NANOBRAGG_NBSIM_GRADIENTREPORT_H

#include "nanobragg/Simulator.h"

#include <string>
#include <vector>

namespace nanobragg {

/// "fused" or "interpreter".
const char *nameOf(Engine engine);

/// A loss and its gradient as text.
struct GradientReport {
  const Simulator &simulator; ///< whose numbers they are
  std::string lossKind;       ///< "sum" or "chi2"
  std::int64_t pixels;        ///< that contribute to the loss
  const LossGradient &result;
  const std::vector<DeadGradient> &dead;

  std::string toJson() const;
  std::string toTable() const;
};

} // namespace nanobragg
#endif
