// Analytic derivatives against differences.
#ifndef NANOBRAGG_GRADCHECK_CHECK_H
#define NANOBRAGG_GRADCHECK_CHECK_H

#include "tools/nb-gradcheck/Variations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nanobragg {

enum class CheckMode { Forward, Reverse };

struct CheckOptions {
  CheckMode mode = CheckMode::Reverse;
  int order = 1;
  double rtol = 1e-6;
  double atol = 1e-10; ///< times the largest derivative, each times its parameter's scale
  double step = 0;     ///< as FiniteDifferences::Options::step
  /// Weights of the pixels are random, between -1 and 1; unset: the loss is the sum.
  std::optional<std::uint64_t> randomLoss;
  std::size_t elements = 6; ///< how many are checked of a parameter with many numbers
  std::uint64_t seed = 1;   ///< decides which elements, and random directions
  bool together = false;    ///< one random direction through all parameters, nothing else
};

enum class Verdict {
  Passed,
  Failed,
  Dead,     ///< both are zero
  Undecided ///< the difference is not good enough to tell
};

struct CheckedDerivative {
  std::string name, unit; ///< "cell_a", or "cell_a, cell_b" at second order
  double analytic = 0, difference = 0;
  double differenceError = 0;
  double relativeError = 0;
  double step = 0;
  std::int64_t leftOut = 0; ///< pixels in which the image jumps within the step
  double worstPixel = 0;    ///< forward mode: largest error of a pixel, of the largest pixel
  double pixelError = 0;    ///< the estimated error of the difference
  double scaled = 0;        ///< size of the derivative in units of the scale
  Verdict verdict = Verdict::Failed;
  std::string why{}; ///< the reason of a dead derivative, when it is known
};

struct CheckResult {
  double loss = 0;
  std::vector<CheckedDerivative> derivatives;
  std::int64_t images = 0; ///< that the differences took
  double analyticSeconds = 0, differenceSeconds = 0;

  /// Something was checked, and nothing failed or stayed undecided.
  bool passed() const;
};

/// Checks `analytic`'s derivatives with respect to the parameters (names, groups) against
/// differences of the image of `reference`, which has the same experiment. Throws
/// std::invalid_argument for names.
CheckResult check(Simulator &analytic, Simulator &reference, const std::string &parameters,
                  const CheckOptions &options);

} // namespace nanobragg
#endif
