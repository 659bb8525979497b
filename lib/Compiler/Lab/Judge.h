// Pipelines, judged together.
#ifndef NB_LAB_JUDGE_H
#define NB_LAB_JUDGE_H

#include "lib/Compiler/Lab/PipelineVariants.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir::nb {

/// The pipelines to try and what to find out about them.
struct Judging {
  /// The first one is what the others are timed against; empty text: the compiler's own passes.
  std::vector<NamedPipeline> pipelines{};
  unsigned repeat = 0; ///< rounds of timing; 0: none
  enum class Whom { Nobody, Wrong, All };
  Whom blame = Whom::Nobody; ///< whose first wrong pass is looked for
  std::function<void(const std::string &)> progress{};
};

/// Compiles, runs and compares each in a copy of this process, then times those that have an image.
std::vector<TrialResult> judge(Subject &subject, const Expectation &expectation,
                               const TrialOptions &options, const Judging &judging);

} // namespace mlir::nb

#endif
