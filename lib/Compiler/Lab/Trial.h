// One pipeline, judged.
#ifndef NB_LAB_TRIAL_H
#define NB_LAB_TRIAL_H

#include "lib/Compiler/Compare/CompareEngines.h"
#include "lib/Compiler/Lab/Paired.h"
#include "lib/Compiler/Lab/Subject.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::nb {

/// The options that all pipelines of a comparison share.
struct TrialOptions {
  CompileOptions compile; ///< target, precision, plugins and patterns
  EngineTolerance tolerance;
  std::vector<std::string> gradientBy; ///< empty: no gradient is looked at
  bool countInstructions = true;
  double mostSeconds = 120; ///< for one pipeline
};

/// The interpreter's results for the program as it was written.
struct Expectation {
  RenderedImage image;
  std::vector<std::vector<double>> gradient; ///< one entry for each of TrialOptions::gradientBy
  /// The error that each gradient may have because its terms are rounded.
  std::vector<double> gradientRounding;
  std::string noGradient; ///< why there is none, if there was to be one
};

/// How far something is from what it should be.
struct Deviation {
  bool same = false;
  double worst = 0;                ///< in units of the tolerance
  double relative = 0;             ///< the largest difference, of the largest number
  std::string where;               ///< "panel 0, slow 3, fast 7", "cell_a"
  double value = 0, reference = 0; ///< there
};

/// The fault that is looked for.
enum class Fault {
  Image,    ///< the image is wrong
  Gradient, ///< the image is right, and the gradient is wrong
  Ends      ///< making or running the kernel crashes, or does not end
};

/// The first pass after which there is the fault.
struct GuiltyPass {
  size_t number = 0; ///< among the pipeline's passes, from 1 on; 0: ahead of them
  std::string name;  ///< its name, --patterns as a pass; empty: all of the user's passes
  std::optional<NamedDifference>
      value; ///< where the interpreter can run the program before and after
};

/// The search for a fault. No pass: it is after none of them.
struct Blame {
  Fault fault;
  std::optional<GuiltyPass> pass;
};

struct TrialResult {
  std::string name, pipeline;
  std::string failure; ///< why there is no kernel, or how running it ended
  std::string passes;  ///< that ran
  double compileSeconds = 0;
  size_t codeBytes = 0; ///< the whole kernel's
  std::string code;     ///< equal where two pipelines make the same instructions
  unsigned loopInstructions = 0, loopVector = 0, loopSpills = 0, vectorRegisters = 0;
  std::optional<Deviation> image, gradient;
  std::string gradientFailure;
  std::optional<double> instructionsPerSample; ///< mean over some rows in the middle of the image
  std::optional<double> nsPerSample;
  std::optional<Ratio> change;         ///< in time, against the first; from fewestRounds on
  bool sameCode = false;               ///< as that one has, which is no change then
  std::optional<Blame> blame;          ///< by judge()
  std::optional<double> shareComputed; ///< share of samples that a kernel computes which leaves out
                                       ///< those without light

  bool compiles() const { return failure.empty(); }
  /// Did its process crash, or have to be stopped?
  bool endsBadly() const {
    const llvm::StringRef why = failure;
    return why.starts_with("crashes") || why.starts_with("takes more") ||
           why.starts_with("ends with status") || why == "says nothing";
  }
  /// Is there a result that is not the interpreter's?
  bool differs() const { return (image && !image->same) || (gradient && !gradient->same); }
  /// Is the gradient's kernel missing, or the image's?
  bool lacksKernel() const { return !compiles() || !gradientFailure.empty(); }
  bool right() const { return !lacksKernel() && image && !differs(); }
};

/// The options of a request's trials: its target, precision, passes, culling and counts, and the
/// tolerance that is usual for the precision. A program from a file is compiled as it is.
TrialOptions trialOptionsOf(const nanobragg::CompileOptions &decided, const Subject &subject);

llvm::Expected<Expectation> expect(Subject &subject, const TrialOptions &options);

/// Compiles, runs and compares, in a process of its own. An empty pipeline is the compiler's own.
TrialResult tryPipeline(Subject &subject, const Expectation &expectation, const std::string &name,
                        const std::string &pipeline, const TrialOptions &options);

/// Looks at the brightest part of the image. Kernels leave out samples without light, so that
/// elsewhere there may be none to compare.
void lookWhereLightIs(Subject &subject, const TrialOptions &options);

/// Times those that have an image in turn, forwards and backwards, each `repeat` times with one
/// thread, and sets the least nsPerSample of each and its change against the first. Results of the
/// same code as the first are not timed. Samples are counted per pixel, whether they are computed
/// or left out, over as many rows as it takes to run for a twentieth of a second.
void timeInTurn(Subject &subject, std::vector<TrialResult> &results, const TrialOptions &options,
                unsigned repeat);

/// The difference of two images.
Deviation deviationOf(const RenderedImage &image, const RenderedImage &reference,
                      const EngineTolerance &tolerance);

/// The gradient of a program that has been differentiated, in the interpreter; nothing where it
/// cannot run the program.
std::optional<Deviation> interpretedDeviation(ModuleOp program, Subject &subject,
                                              const Expectation &expectation,
                                              const TrialOptions &options);

/// Looks for it in a pipeline, of which each beginning is tried.
std::optional<GuiltyPass> findGuiltyPass(Subject &subject, const Expectation &expectation,
                                         const std::string &pipeline, const TrialOptions &options,
                                         Fault fault);

} // namespace mlir::nb

#endif
