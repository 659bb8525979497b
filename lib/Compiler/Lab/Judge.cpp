#include "lib/Compiler/Lab/Judge.h"

using namespace mlir;
using namespace mlir::nb;

/// Nothing where there is no fault to look for.
static std::optional<Fault> faultOf(const TrialResult &result, bool all) {
  if (result.image && !result.image->same)
    return Fault::Image;
  if (result.gradient && !result.gradient->same)
    return Fault::Gradient;
  // The failure names the pass that did not end in order, if it was one.
  if (result.endsBadly() && result.failure.find("pass ") == std::string::npos)
    return Fault::Ends;
  if (all && result.compiles())
    return Fault::Image;
  return std::nullopt;
}

std::vector<TrialResult> nb::judge(Subject &subject, const Expectation &expectation,
                                   const TrialOptions &options, const Judging &judging) {
  const auto progress = [&](const std::string &what) {
    if (judging.progress)
      judging.progress(what);
  };
  std::vector<TrialResult> results;
  for (const NamedPipeline &one : judging.pipelines) {
    progress("trying: " + one.name);
    results.push_back(tryPipeline(subject, expectation, one.name, one.text, options));
  }
  if (judging.repeat > 0) {
    progress("timing in turn");
    timeInTurn(subject, results, options, judging.repeat);
  }
  if (judging.blame == Judging::Whom::Nobody)
    return results;
  for (TrialResult &result : results) {
    const auto fault = faultOf(result, judging.blame == Judging::Whom::All);
    if (!fault)
      continue;
    progress("looking for the first guilty pass");
    std::string text = result.pipeline;
    if (text.empty()) {
      auto own = wholePipeline(subject, options);
      if (!own) {
        llvm::consumeError(own.takeError()); // it has been tried, and the failure says why
        continue;
      }
      text = own->text();
    }
    result.blame = Blame{*fault, findGuiltyPass(subject, expectation, text, options, *fault)};
  }
  return results;
}
