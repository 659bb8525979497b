#include "lib/Compiler/Lab/Tune.h"

#include "lib/Transforms/Schedule/ScheduleOps.h"

#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

#include <tuple>

using namespace mlir;
using namespace mlir::nb;
using llvm::createStringError;
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

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// A step that applies these patterns or this schedule, which stand in its text.
static PipelineStep applying(ModuleOp patterns) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  patterns->print(stream);
  llvm::replace(text, '\n', ' ');
  return {Stage::User, "", nullptr, "builtin.module(nb-apply-patterns{text={" + text + "}})"};
}

static constexpr StringRef inText = "builtin.module(nb-apply-patterns{text={";

/// The patterns or the schedule in the text of a step; null where there are none.
static OwningOpRef<ModuleOp> patternsOf(const PipelineStep &step, MLIRContext &context) {
  const std::string text = step.text();
  StringRef rest = text;
  // MLIR writes a blank ahead of options that it has parsed.
  if (!rest.consume_front(inText) &&
      !rest.consume_front("builtin.module(nb-apply-patterns{ text={"))
    return {};
  if (!rest.consume_back("}})"))
    return {};
  return parseSourceString<ModuleOp>(rest, &context);
}

/// Each choice of the schedule with each value that it has not.
static void changeChoices(ModuleOp schedule, size_t step, const Pipeline &pipeline,
                          std::vector<Candidate> &candidates) {
  const auto add = [&](StringRef name, const std::string &value) {
    Candidate c{name.str() + "=" + value, pipeline.copy()};
    c.pipeline.steps[step] = applying(schedule);
    candidates.push_back(std::move(c));
  };
  schedule->walk([&](Operation *op) {
    if (auto knob = dyn_cast<transform::tune::KnobOp>(op)) {
      const Attribute chosen = knob.getSelectedAttr();
      auto options = dyn_cast<ArrayAttr>(knob.getOptions());
      for (Attribute option : options ? options.getValue() : ArrayRef<Attribute>())
        if (option != chosen) {
          knob.setSelectedAttr(option);
          std::string value;
          llvm::raw_string_ostream stream(value);
          option.print(stream, /*elideType=*/true);
          add(knob.getName(), value);
        }
      knob.setSelectedAttr(chosen);
    } else if (auto alternatives = dyn_cast<transform::tune::AlternativesOp>(op)) {
      const IntegerAttr chosen = alternatives.getSelectedRegionAttrAttr();
      for (unsigned i = 0; chosen && i != alternatives->getNumRegions(); ++i)
        if (int64_t(i) != chosen.getInt()) {
          alternatives.setSelectedRegionAttrAttr(IntegerAttr::get(chosen.getType(), i));
          add(alternatives.getName(), std::to_string(i));
        }
      alternatives.setSelectedRegionAttrAttr(chosen);
    }
  });
}

/// Open choices begin with the first of their options.
static void makeOpenChoices(ModuleOp schedule) {
  schedule->walk([](Operation *op) {
    if (auto knob = dyn_cast<transform::tune::KnobOp>(op)) {
      auto options = dyn_cast<ArrayAttr>(knob.getOptions());
      if (!knob.getSelected() && options && !options.empty())
        knob.setSelectedAttr(options[0]);
    } else if (auto alternatives = dyn_cast<transform::tune::AlternativesOp>(op)) {
      if (!alternatives.getSelectedRegionAttr() && !alternatives.getSelectedRegionParam())
        alternatives.setSelectedRegionAttrAttr(
            IntegerAttr::get(IndexType::get(op->getContext()), 0));
    }
  });
}

/// The pipeline with the patterns and schedules of files in its text, and all choices made.
static Expected<Pipeline> withoutFiles(Pipeline pipeline, MLIRContext &context) {
  static llvm::Regex files("nb-apply-patterns\\{ *files=\\{?([^ {}]+)\\}? *\\}");
  Pipeline all;
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = sentenceOf(diagnostic);
  });
  for (const PipelineStep &step : pipeline.steps) {
    SmallVector<StringRef> found;
    const std::string text = step.text();
    if (!files.match(text, &found)) {
      auto inside = patternsOf(step, context);
      if (inside)
        makeOpenChoices(*inside);
      all.steps.push_back(inside ? applying(*inside) : step.copy());
      continue;
    }
    for (StringRef file : llvm::split(found[1], ',')) {
      auto patterns = readPatterns(file, UnknownLoc::get(&context));
      if (!patterns)
        return createStringError(message);
      makeOpenChoices(*patterns);
      all.steps.push_back(applying(*patterns));
    }
  }
  return std::move(all);
}

Expected<Tuning> nb::tune(Subject &subject, const Expectation &expectation,
                          const TrialOptions &options, const TuningOptions &search,
                          const std::function<void(const TuningStep &)> &progress) {
  auto whole = wholePipeline(subject, options);
  if (!whole)
    return whole.takeError();
  const std::string before = whole->text();
  auto begin = search.begin.empty() ? std::move(whole) : parsePipeline(search.begin);
  if (!begin)
    return begin.takeError();
  begin = withoutFiles(std::move(*begin), subject.context);
  if (!begin)
    return begin.takeError();
  TrialOptions quick = options;
  quick.countInstructions = false;
  Pipeline best = std::move(*begin);
  Tuning tuning;
  auto timed = [&](const std::string &one, const std::string &other) {
    std::vector<TrialResult> pair(2);
    pair[0].pipeline = one;
    pair[1].pipeline = other;
    timeInTurn(subject, pair, quick, std::max(search.repeat, fewestRounds));
    return std::tuple(pair[0].nsPerSample.value_or(0), pair[1].nsPerSample.value_or(0),
                      pair[1].change.value_or(Ratio()));
  };
  const TrialResult first = tryPipeline(subject, expectation, "", best.text(), quick);
  if (!first.right())
    return createStringError("the search would begin with a pipeline that is not right" +
                             (first.failure.empty() ? "" : ": " + first.failure) +
                             "; without --tune, nb-try names the pass");
  std::string bestCode = first.code;
  llvm::StringSet<> tried;
  tried.insert(best.text());
  for (bool found = true; found;) {
    found = false;
    std::vector<Candidate> candidates;
    for (auto [i, step] : llvm::enumerate(best.steps))
      if (auto schedule = patternsOf(step, subject.context))
        changeChoices(*schedule, i, best, candidates);
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
      step.why = result.failure;
      step.sameCode = !result.code.empty() && result.code == bestCode;
      // Twice: somebody else may have had the processor while one of the two was timed.
      for (int time = 0; time != 2 && step.right && !step.sameCode; ++time) {
        std::tie(step.against, step.nsPerSample, step.change) = timed(best.text(), text);
        step.kept = step.change.isGain(search.least);
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
