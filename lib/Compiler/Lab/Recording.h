// A compilation, looked at after each pass.
#ifndef NB_LAB_RECORDING_H
#define NB_LAB_RECORDING_H

#include "lib/Compiler/CodeGen/Stats/KernelStats.h"
#include "lib/Compiler/Lab/Trial.h"
#include "lib/Compiler/Pipelines/Remarks.h"

#include <map>
#include <string>
#include <vector>

namespace mlir::nb {

/// A line of a printed program. The name and the dependence are those of the op that begins there.
struct RecordedLine {
  std::string text, name;
  unsigned depends = 0;
};

struct RecordedStage {
  std::string pass, stage;
  std::vector<RecordedLine> lines;
  std::vector<PassRemark> remarks;
  std::map<std::string, unsigned> opsPerSample; ///< in the innermost loops, by kind
  bool changed = true;
  /// At the end of a stage: what a kernel that goes on from here makes.
  std::optional<TrialResult> trial;
};

/// An instruction of the inner loop and the value that it is for.
struct NamedInstruction {
  std::string text, name;
};

struct Recording {
  std::string title;
  std::vector<RecordedStage> stages; ///< the first is the program as it was written
  std::vector<std::string> llvm;     ///< run_tile, optimized, with names
  std::vector<NamedInstruction> loop;
  std::optional<CodeLoop> statistics;
  TrialResult whole; ///< the result of the whole pipeline
  RenderedImage image;
  int64_t lanes = 1;       ///< pixels computed at once
  size_t bytesWritten = 0; ///< the image

  /// Samples of each time around the inner loop; nothing where instructions were not counted.
  std::optional<double> samplesAround() const;
};

/// Runs `pipeline` (empty: the compiler's own) pass by pass. With `judge`, the program at the end
/// of each stage goes on to a kernel, which is compared.
llvm::Expected<Recording> record(Subject &subject, const Expectation &expectation,
                                 const std::string &pipeline, const TrialOptions &options,
                                 bool judge);

} // namespace mlir::nb

#endif
