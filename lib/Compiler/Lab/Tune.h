// The pipeline that is fastest here.
#ifndef NB_LAB_TUNE_H
#define NB_LAB_TUNE_H

#include "lib/Compiler/Lab/PipelineVariants.h"

#include <functional>

namespace mlir::nb {

/// One thing that was tried.
struct TuningStep {
  std::string
      what; ///< "nb-vectorize width=4", "without nb-split-sums", "nb-fuse after nb-peel-..."
  double nsPerSample = 0, against = 0; ///< its own and the best so far, measured in turn
  Ratio change;                        ///< the one over the other, pair by pair
  bool right = false, kept = false;
  bool sameCode = false; ///< as the best so far makes: not timed
};

struct Tuning {
  std::string pipeline;
  /// The compiler's own and what was found, in turn at the end.
  double nsBefore = 0, nsAfter = 0;
  Ratio change;
  std::vector<TuningStep> steps;
};

/// Begins with the compiler's own pipeline and changes one thing after the other: numbers and
/// switches among the options of its passes (doubled, halved, turned), passes left out, neighbours
/// exchanged. Keeps what is right and, measured twice, faster by more than `least` in the median
/// and by anything in all of its interval, and begins anew until nothing is. Kernels are timed in
/// turn with the best so far. A change that is no gain at the end is given up.
llvm::Expected<Tuning> tune(Subject &subject, const Expectation &expectation,
                            const TrialOptions &options, unsigned repeat, double least,
                            const std::function<void(const TuningStep &)> &progress);

} // namespace mlir::nb

#endif
