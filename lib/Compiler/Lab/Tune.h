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
  std::string why;       ///< it is not right, where the compiler says so
  bool sameCode = false; ///< as the best so far makes: not timed
};

struct Tuning {
  std::string pipeline;
  /// The compiler's own and what was found, in turn at the end.
  double nsBefore = 0, nsAfter = 0;
  Ratio change;
  std::vector<TuningStep> steps;
};

/// How a search goes.
struct TuningOptions {
  std::string begin; ///< the pipeline that it begins with; empty: the compiler's own
  unsigned repeat;   ///< rounds of each measurement in turn
  double least;      ///< the gain, as a fraction, of a change that is kept
};

/// Changes one thing of a pipeline after the other: numbers and switches among the options of its
/// passes (doubled, halved, turned), the knobs and alternatives of its schedules, passes left out,
/// neighbours exchanged. Keeps what is right and, measured twice, faster by more than `least` in
/// the median and by anything in all of its interval, and begins anew until nothing is. Kernels are
/// timed in turn with the best so far. A result that is no gain over the compiler's own pipeline is
/// given up at the end. Patterns and schedules of files stand in the resulting text themselves.
llvm::Expected<Tuning> tune(Subject &subject, const Expectation &expectation,
                            const TrialOptions &options, const TuningOptions &search,
                            const std::function<void(const TuningStep &)> &progress);

} // namespace mlir::nb

#endif
