// The loss of --grad, and its report.
#ifndef NANOBRAGG_NBSIM_GRADIENTREPORT_H
#define NANOBRAGG_NBSIM_GRADIENTREPORT_H

#include "lib/CommandLine/CommandLine.h"
#include "nanobragg/Loss.h"
#include "nanobragg/Simulator.h"
#include "tools/shared/RunSetup.h"

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

/// The loss of --loss over the detector's images. Images are those of nb-compare: NumPy
/// arrays, SMV images, whose ADC_OFFSET is subtracted, raw 32-bit floats. With --pixels, the pixels
/// of the list are taken out of them, and an array of NumPy of one dimension has one number for
/// each pixel of the list. Throws io::FileError.
Loss readLoss(const RunSetup &setup);

} // namespace nanobragg
#endif
