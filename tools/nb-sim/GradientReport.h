// The report of --grad.
#ifndef NANOBRAGG_NBSIM_GRADIENTREPORT_H
#define NANOBRAGG_NBSIM_GRADIENTREPORT_H

#include "lib/CommandLine/CommandLine.h"
#include "nanobragg/Simulator.h"

#include <string>
#include <vector>

namespace nanobragg {

/// "fused" or "interpreter".
const char *nameOf(Engine engine);

/// "sum", "chi2", "poisson" or "gauss".
const char *kindOf(const LossOptions &loss);

/// A loss and its gradient as text.
struct GradientReport {
  const Simulator &simulator; ///< whose numbers they are
  std::string lossKind;       ///< as --loss names it
  std::int64_t pixels;        ///< that contribute to the loss
  const LossGradient &result;
  const std::vector<DeadGradient> &dead;
  const Loss &loss;

  std::string toJson() const;
  std::string toTable() const;
};

} // namespace nanobragg
#endif
