#include "lib/Compiler/Lab/Tune.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

#include <tuple>

using namespace mlir;
using namespace mlir::nb;
using llvm::Expected;

/// Does the pass leave a program of images and sums? Only such passes are chosen from; MLIR's own
/// simplify.
static bool isOfPrograms(StringRef pass) {
  const std::optional<Stage> stage = stageOf(pass);
  return pass.starts_with("nb-") && stage && leavesImages(*stage);
}

/// Without it there is no kernel, or one with other numbers.
static bool isNeeded(StringRef pass) {
  const std::optional<Stage> stage = stageOf(pass);
  return stage == Stage::Precision || stage == Stage::Branches;
}

namespace {
struct Candidate {
  std::string what;
  Pipeline pipeline;
};
} // namespace

/// Each number among the options of a step halved and doubled, each switch turned.
static void changeOptions(const Pipeline &pipeline, std::vector<Candidate> &candidates) {
  static llvm::Regex option("([a-z-]+)=([0-9]+|true|false)([ }])");
  for (size_t i = 0; i != pipeline.steps.size(); ++i) {
    const std::string text = pipeline.steps[i].text(), name = pipeline.steps[i].name();
    // MLIR's options say how often canonicalization is tried, and the like.
    if (!isOfPrograms(name) && !StringRef(name).starts_with("convert-nb"))
      continue;
    StringRef rest = text;
    for (SmallVector<StringRef> found; option.match(rest, &found);
         rest = rest.substr(found[2].end() - rest.begin())) {
      SmallVector<std::string> values;
      unsigned number = 0;
      if (found[2].getAsInteger(10, number))
        values.push_back(found[2] == "true" ? "false" : "true");
      else if (number > 1)
        values = {std::to_string(number / 2), std::to_string(number * 2)};
      // A target has the warps that it has.
      if (found[1] == "warp")
        continue;
      for (const std::string &value : values) {
        Candidate c{name + " " + found[1].str() + "=" + value, pipeline.copy()};
        c.pipeline.steps[i].written = text.substr(0, found[2].begin() - text.data()) + value +
                                      text.substr(found[2].end() - text.data());
        candidates.push_back(std::move(c));
      }
    }
  }
}

static void leaveOutPasses(const Pipeline &pipeline, std::vector<Candidate> &candidates) {
  llvm::StringSet<> done;
  for (const PipelineStep &left : pipeline.steps) {
    const std::string name = left.name();
    if (!isOfPrograms(name) || isNeeded(name) || !done.insert(name).second)
      continue;
    Candidate c{"without " + name, {}};
    for (const PipelineStep &step : pipeline.steps)
      if (step.name() != name)
        c.pipeline.steps.push_back(step.copy());
    candidates.push_back(std::move(c));
  }
}

static void exchangeNeighbours(const Pipeline &pipeline, std::vector<Candidate> &candidates) {
  for (size_t i = 0; i + 1 < pipeline.steps.size(); ++i) {
    const std::string first = pipeline.steps[i].name(), second = pipeline.steps[i + 1].name();
    if (first == second || !isOfPrograms(first) || !isOfPrograms(second) ||
        stageOf(second) == Stage::Lanes)
      continue;
    Candidate c{first + " after " + second, pipeline.copy()};
    std::swap(c.pipeline.steps[i], c.pipeline.steps[i + 1]);
    candidates.push_back(std::move(c));
  }
}

Expected<Tuning> nb::tune(Subject &subject, const Expectation &expectation,
                          const TrialOptions &options, unsigned repeat, double least,
                          const std::function<void(const TuningStep &)> &progress) {
  auto whole = wholePipeline(subject, options);
  if (!whole)
    return whole.takeError();
  TrialOptions quick = options;
  quick.countInstructions = false;
  Pipeline best = std::move(*whole);
  const std::string before = best.text();
  Tuning tuning;
  auto timed = [&](const std::string &one, const std::string &other) {
    std::vector<TrialResult> pair(2);
    pair[0].pipeline = one;
    pair[1].pipeline = other;
    timeInTurn(subject, pair, quick, std::max(repeat, fewestRounds));
    return std::tuple(pair[0].nsPerSample.value_or(0), pair[1].nsPerSample.value_or(0),
                      pair[1].change.value_or(Ratio()));
  };
  std::string bestCode = tryPipeline(subject, expectation, "", before, quick).code;
  llvm::StringSet<> tried;
  tried.insert(before);
  for (bool found = true; found;) {
    found = false;
    std::vector<Candidate> candidates;
    changeOptions(best, candidates);
    leaveOutPasses(best, candidates);
    exchangeNeighbours(best, candidates);
    for (Candidate &candidate : candidates) {
      const std::string text = candidate.pipeline.text();
      if (!tried.insert(text).second)
        continue;
      TuningStep step;
      step.what = candidate.what;
      const TrialResult result = tryPipeline(subject, expectation, candidate.what, text, quick);
      step.right = result.right();
      step.sameCode = !result.code.empty() && result.code == bestCode;
      // Twice: somebody else may have had the processor while one of the two was timed.
      for (int time = 0; time != 2 && step.right && !step.sameCode; ++time) {
        std::tie(step.against, step.nsPerSample, step.change) = timed(best.text(), text);
        step.kept = step.change.isGain(least);
        if (!step.kept)
          break;
      }
      progress(step);
      tuning.steps.push_back(step);
      if (!step.kept)
        continue;
      best = std::move(candidate.pipeline);
      bestCode = result.code;
      found = true;
      break;
    }
  }
  tuning.pipeline = best.text();
  if (tuning.pipeline != before)
    std::tie(tuning.nsBefore, tuning.nsAfter, tuning.change) = timed(before, tuning.pipeline);
  if (!tuning.change.isGain(0))
    tuning.pipeline = before;
  return tuning;
}
